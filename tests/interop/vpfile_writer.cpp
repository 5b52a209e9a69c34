// Writes a random vpfile in some sessions of 1 to 3 tasks: vpfile_writer NAME SEED. NAME.expected has the expected
// content of the streams. vpfile_reader_test.py starts it.
#include <algorithm>

#include <array>

#include "support/files/vp_streams.hpp"

namespace thalweg::test {
namespace {

using Draws = std::mt19937;

std::size_t below(Draws& draws, std::size_t end) { return draws() % end; }

// Any position up to slightly beyond the end.
std::size_t position_in(Draws& draws, const VpTask& task, std::size_t local) {
  return below(draws, task.stream(local).size() + 100);
}

// `common` draws identically on all tasks, `own` does not. `appends`: only to the ends, and few VPs by themselves, so that
// the others go on in batches.
void do_something(VpTask& task, Draws& common, Draws& own, bool apart, bool appends) {
  const std::size_t n = task.vps().size();
  const std::size_t any = below(common, apart ? 7 : 3);
  const std::size_t what = appends ? std::array<std::size_t, 5>{3, 3, 3, 4, 6}[below(common, 5)] : any;
  const std::size_t bytes = 1 + below(common, 60);
  const std::size_t to = below(common, 200);
  if (what == 0) return task.seek_all(to);
  if (what <= 2) return task.write_all(what == 1 ? 24 : bytes);
  if (what == 3) {
    std::vector<std::size_t> each(n);
    for (std::size_t& one : each) one = below(own, 50);
    return task.write_each(each);
  }
  if (what == 4) return task.flush_all();
  for (std::size_t i = 0; i < std::min<std::size_t>(n, appends ? 1 : 20); ++i) {
    const std::size_t local = below(own, n);
    if (what == 5) task.seek_one(local, position_in(own, task, local));
    task.write_one(local, below(own, below(own, 5) == 0 ? 2000 : 90));
  }
}

void write_random(const std::string& path, unsigned seed) {
  Draws draws(seed);
  std::vector<std::int64_t> shape(1 + below(draws, 3));
  for (std::int64_t& extent : shape) extent = 1 + static_cast<std::int64_t>(below(draws, 5));
  if (seed % 2 == 0) shape = {40 + static_cast<std::int64_t>(below(draws, 111))};  // enough VPs for batches
  const bool appends = seed % 4 == 0;
  VpStreams streams(path, shape);
  const bool goes_apart = below(draws, 4) != 0;
  const std::string hints = "superblock_bytes=4096,block_bytes=" + std::to_string(16 << below(draws, 3)) +
                            ",directory_pointers=" + std::to_string(1 + below(draws, 4)) +
                            ",round_bytes=" + std::to_string(1 + below(draws, 100));
  const std::size_t sessions = 1 + below(draws, 4);
  for (std::size_t session = 0; session < sessions; ++session) {
    const int tasks = 1 + static_cast<int>(below(draws, 3));
    const unsigned common_seed = static_cast<unsigned>(draws());
    const bool apart = goes_apart && below(draws, 3) != 0;
    streams.session(session == 0 ? "w+" : "r+", hints, tasks, [&](VpTask& task) {
      Draws common(common_seed);
      Draws own(common_seed + 1 + static_cast<unsigned>(task.vps().empty() ? 0 : task.vps()[0]));
      for (std::size_t i = 0; appends && i < task.vps().size(); ++i) task.seek_one(i, task.stream(i).size());
      for (std::size_t steps = 1 + below(common, 12); steps > 0; --steps)
        do_something(task, common, own, apart, appends && apart);
    });
  }
  streams.write_expected(path + ".expected");
}

}  // namespace
}  // namespace thalweg::test

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: vpfile_writer NAME SEED\n");
    return 2;
  }
  thalweg::test::write_random(argv[1], static_cast<unsigned>(std::strtoul(argv[2], nullptr, 10)));
  return 0;
}
