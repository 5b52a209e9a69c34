// (c) Several collective writes or reads of one file at once: 16 of 64 MiB, 1 to 16 of them outstanding. Files to read
// were written and dropped from the page cache before.
#include <fmt/format.h>

#include <deque>
#include <utility>

#include "collective/parts.hpp"

namespace bench {

namespace {

constexpr int kCalls = 16;

class Outstanding {
 public:
  Outstanding(Bench& bench, const std::string& name, Layout layout, bool reads)
      : bench_(bench),
        reads_(reads),
        phase_(reads ? "read" : "write"),
        layout_(std::move(layout)),
        memory_(layout_.bytes),
        parts_(parts_of(layout_, memory_, kCalls)),
        together_(
            bench.ranks,
            bench.named(fmt::format("{} collectives of {} KiB, {}", kCalls, layout_.file_bytes / kCalls / 1024, name)) +
                (reads ? ", reads" : ""),
            {static_cast<double>(layout_.file_bytes), "byte"}, {phase_}) {}

  void run() {
    add("ours", ours(bench_.group));
    add("MPI", mpi_collective());
    if (!bench_.storage.in_memory())
      add("ours, direct", ours(bench_.group, {Form::blocking, TW_PROGRESS_DEFAULT, true}));
    together_.run(bench_.plan(together_.variants()));
    bench_.say(together_);
    bench_.ask(together_, "ours, 8 outstanding", "ours, 1 outstanding", phase_, reads_ ? 0 : 1.3);
    bench_.ask(together_, "ours, 16 outstanding", "ours, blocking", phase_, 1);
    bench_.ask(together_, "MPI, 16 outstanding", "MPI, blocking", phase_, 0);
    bench_.ask(together_, "ours, 8 outstanding", "MPI, 8 outstanding", phase_, 0);
    if (bench_.storage.in_memory()) return;
    bench_.ask(together_, "ours, direct, 8 outstanding", "ours, direct, 1 outstanding", phase_, reads_ ? 0 : 1.3);
    bench_.ask(together_, "ours, direct, 16 outstanding", "ours, direct, blocking", phase_, 1);
  }

 private:
  // most: number outstanding; 0: blocking calls.
  void add(const std::string& who, const OpenFile& open) {
    for (const int most : {0, 1, 2, 4, 8, 16}) {
      const std::string name = who + (most == 0 ? ", blocking" : fmt::format(", {} outstanding", most));
      together_.add(name, [this, name, open, most](int) { return move(name, open, most); });
    }
  }

  std::vector<double> move(const std::string& name, const OpenFile& open, int most) {
    const std::string path = bench_.storage.fresh_path(static_cast<double>(layout_.file_bytes));
    auto file = opened(open, path, layout_);
    const std::uint32_t seed = next_seed();
    memory_.fill(layout_, seed);
    if (reads_) {
      for (const Access& part : parts_) file->write(part);
      bench_.storage.forget(path);
      memory_.clear();
    }
    const double seconds = bench_.ranks.timed([&] { most == 0 ? one_by_one(*file) : several(*file, most); });
    must_be_right(reads_ ? memory_.wrong(layout_, seed)
                         : wrong_in_file(path, layout_.file_bytes, seed, bench_.ranks.rank(), bench_.ranks.size()),
                  bench_.named(name));
    file.reset();
    bench_.storage.drop(path);
    return {seconds};
  }

  void one_by_one(SharedFile& file) const {
    for (const Access& part : parts_) reads_ ? file.read(part) : file.write(part);
  }
  void several(SharedFile& file, int most) const {
    std::deque<std::unique_ptr<Pending>> pending;
    for (const Access& part : parts_) {
      if (pending.size() == static_cast<std::size_t>(most)) {
        pending.front()->wait();
        pending.pop_front();
      }
      pending.push_back(reads_ ? file.start_read(part) : file.start_write(part));
    }
    for (const auto& last : pending) last->wait();
  }

  Bench& bench_;
  const bool reads_;
  const std::string phase_;
  Layout layout_;
  Memory memory_;
  std::vector<Access> parts_;
  Together together_;
};

}  // namespace

void bench_outstanding(Bench& bench) {
  if (bench.storage.in_memory() && !bench.storage.delayed()) return;
  if (bench.lacks_nonblocking_peer()) return;
  const int rank = bench.ranks.rank(), ranks = bench.ranks.size();
  const std::int64_t each = pick<std::int64_t>(bench.effort, 256 << 10, 8 << 20, 64 << 20) / ranks;
  const std::int64_t piece = pick<std::int64_t>(bench.effort, 4 << 10, 64 << 10, 64 << 10);
  for (const bool reads : {false, true}) {
    Outstanding(bench, "contiguous", contiguous(each, kCalls, rank, ranks), reads).run();
    Outstanding(bench, "strided", interleaved(piece, kCalls * (each / piece), rank, ranks), reads).run();
  }
}

}  // namespace bench
