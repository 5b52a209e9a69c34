// Shared by the parts: running one variant once, and naming results.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "collective/parts.hpp"
#include "support/clock.hpp"

namespace bench {

const std::vector<std::string> kWriteAndRead = {"new", "write", "read"};

std::string Bench::named(const std::string& what) const {
  const std::string nodes = ranks.nodes() == 1 ? "" : fmt::format("{} x ", ranks.nodes());
  return fmt::format("{}, {}{} rank{}, {}: {}", mpi, nodes, ranks.size() / ranks.nodes(), ranks.size() == 1 ? "" : "s",
                     storage.name(), what);
}

bool Bench::lacks_nonblocking_peer() const {
  const bool lacks = mpi.rfind("Open MPI 4", 0) == 0 && mpi.find("ROMIO") != std::string::npos;
  if (lacks && ranks.first()) {
    const std::string name = fmt::format("nonblocking collectives of {}", mpi);
    report.add_fact(name, "none", name + ": none, nothing is compared");
  }
  return lacks;
}

void Bench::say(Together& together) const {
  if (ranks.first()) report.add(together.results(), storage.name());
}

void Bench::ask(Together& together, const std::string& ours, const std::string& peer, const std::string& phase,
                double bound) const {
  if (!ranks.first()) return;
  const Comparison& results = together.results();
  const std::string name = fmt::format("{}: {} to {}, {}", results.name(), ours, peer, phase);
  const Spread speed = results.speed(ours, peer, phase);
  if (bound == 0) return report.add_fact(name, speed.median, fmt::format("{}: {:.3g} x", name, speed.median));
  report.add_target({name, speed, bound, true, "x"});
}

std::int64_t wrong_on_all(const Bench& bench, const std::string& path, std::int64_t bytes, std::uint32_t seed,
                          int repetition) {
  const Ranks& ranks = bench.ranks;
  if (ranks.nodes() > 1) ranks.meet();
  if (ranks.nodes() > 1 && bench.storage.name() == "fuse") {
    if (repetition > (bench.effort == Effort::tiny ? 0 : -1)) return -1;
    std::this_thread::sleep_for(std::chrono::milliseconds(1200));
  }
  return wrong_in_file(path, bytes, seed, ranks.rank(), ranks.size());
}

std::uint32_t next_seed() {
  static std::uint32_t seed = 0;
  return seed += 0x01000193U;
}

Comparison::Run write_and_read(const Bench& bench, const std::string& name, const OpenFile& open,
                               const std::vector<Block>& shares, const Access& access, const Judge& judge) {
  return [&bench, name, open, shares, access, judge](int repetition) -> std::vector<double> {
    const Ranks& ranks = bench.ranks;
    const Layout& layout = shares.front().layout;
    const std::string path = bench.storage.fresh_path(static_cast<double>(layout.file_bytes));
    auto file = opened(open, path, layout);
    std::vector<double> seconds;
    std::uint32_t seed = 0;
    for (const char* phase : {"new", "write"}) {
      seed = next_seed();
      for (const Block& share : shares) share.memory.fill(share.layout, seed);
      seconds.push_back(ranks.timed([&] { file->write(access); }));
      if (ranks.nodes() > 1) file->sync();
      judge(wrong_on_all(bench, path, layout.file_bytes, seed, repetition),
            fmt::format("{} ({})", bench.named(name), phase));
    }
    for (const Block& share : shares) share.memory.clear();
    // tw_file_sync() has dropped what this node had cached, MPI_File_sync() has not.
    if (ranks.nodes() > 1 && bench.storage.name() == "fuse") bench.storage.forget(path);
    seconds.push_back(ranks.timed([&] { file->read(access); }));
    for (const Block& share : shares) judge(share.memory.wrong(share.layout, seed), bench.named(name) + " (read)");
    file.reset();
    bench.storage.drop(path);
    return seconds;
  };
}

std::unique_ptr<SharedFile> opened(const OpenFile& open, const std::string& path, const Layout& layout) {
  storage_is_slow(true);
  auto file = open(path, layout);
  storage_is_slow(false);
  return file;
}

void add_plans(Together& together, const Bench& bench, const Block& share) {
  for (const auto& [name, hints] :
       {std::pair{"ours, method=direct", "method=direct"}, std::pair{"ours, method=aggregate", "method=aggregate"}}) {
    OurSettings settings;
    settings.hints = hints;
    together.add(name, write_and_read(bench, name, ours(bench.group, settings), share));
  }
}

Comparison::Run copy_in_memory(const Bench& bench, const Block& share) {
  return [&bench, &layout = share.layout, &memory = share.memory](int) -> std::vector<double> {
    Memory copy(layout.bytes);
    const double seconds =
        bench.ranks.timed([&] { std::memcpy(copy.data(), memory.data(), static_cast<std::size_t>(layout.bytes)); });
    return {seconds, seconds, seconds};
  };
}

Comparison::Run one_stream(const Bench& bench, const Block& share) {
  return [&bench, &layout = share.layout, &memory = share.memory](int) -> std::vector<double> {
    const std::string path = bench.storage.fresh_path(static_cast<double>(layout.file_bytes));
    const int fd =
        static_cast<int>(must(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666), "cannot create a file"));
    const auto pass = [&](bool writes) {
      constexpr std::int64_t kCall = std::int64_t{1} << 20;
      if (!bench.ranks.first()) return;
      for (std::int64_t at = 0; at < layout.file_bytes; at += kCall) {
        const std::int64_t n = std::min({kCall, layout.file_bytes - at, memory.bytes()});
        char* data = memory.data() + at % (memory.bytes() - n + 1);
        must(writes ? ::pwrite(fd, data, static_cast<std::size_t>(n), at)
                    : ::pread(fd, data, static_cast<std::size_t>(n), at),
             "one stream");
      }
    };
    std::vector<double> seconds;
    for (const bool writes : {true, true, false}) seconds.push_back(bench.ranks.timed([&] { pass(writes); }));
    close(fd);
    bench.storage.drop(path);
    return seconds;
  };
}

}  // namespace bench
