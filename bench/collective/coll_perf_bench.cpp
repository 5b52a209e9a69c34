// (a) The pattern of ROMIO's coll_perf: a 3-D array of ints distributed by blocks, written and read by all ranks. (a2)
// The pattern of (a) on storage with a high latency.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <utility>

#include "collective/parts.hpp"

namespace bench {

namespace {

constexpr const char* kBlocking = "ours";
constexpr const char* kAwaited = "ours, nonblocking + wait";
constexpr const char* kPeer = "MPI_File_write_all";
constexpr const char* kPieces = "MPI_File_write_at per piece";

struct Asked {
  double write, read;
};

// Target speed-ups over the MPI library: with 4 ranks on the disk, and with 8 on slow storage.
Asked asked_of(const Bench& bench) {
  if (bench.storage.delayed()) return bench.ranks.size() == 8 ? Asked{1.2, 1.2} : Asked{0, 0};
  if (bench.ranks.size() != 4 || bench.storage.in_memory()) return {0, 0};
  if (bench.is_mpich()) return {2.5, 4};
  return bench.is_ompio() ? Asked{1.6, 2.5} : Asked{0, 0};
}

void compare(Bench& bench, int n) {
  const Layout layout = block_of_cube(n, bench.ranks.rank(), bench.ranks.size());
  Memory memory(layout.bytes);
  Together together(bench.ranks, bench.named(fmt::format("coll_perf {}^3", n)),
                    {static_cast<double>(layout.file_bytes), "byte"}, kWriteAndRead);
  const auto add = [&](const char* name, const OpenFile& open) {
    together.add(name, write_and_read(bench, name, open, {layout, memory}));
  };
  add(kBlocking, ours(bench.group));
  add(kAwaited, ours(bench.group, {Form::started_then_awaited}));
  add_plans(together, bench, {layout, memory});
  add(kPeer, mpi_collective());
  add(kPieces, mpi_per_piece());
  together.add("limit: one stream", one_stream(bench, {layout, memory}));
  together.add("limit: memcpy", copy_in_memory(bench, {layout, memory}));
  together.run(bench.plan(together.variants()));
  bench.say(together);
  const Asked asked = asked_of(bench);
  for (const auto& [phase, bound] : {std::pair{"write", asked.write}, std::pair{"read", asked.read}}) {
    bench.ask(together, kBlocking, kPeer, phase, bound);
    bench.ask(together, kAwaited, kBlocking, phase, 0.97);
  }
}

std::int64_t available_memory() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("MemAvailable:", 0) == 0) return std::stoll(line.substr(13)) * 1024;
  return 0;
}

// The array exists twice, in memory and in the page cache, and MPI-IO may need as much again. A rank has at most 2^31 -
// 1 bytes, beyond which current MPI-IO fails.
int largest_that_fits(const Bench& bench) {
  const double memory = bench.ranks.told(static_cast<double>(available_memory())) / 4;
  const double whole = std::min(memory, bench.ranks.size() * 2147483647.0);
  const int n = static_cast<int>(std::cbrt(whole / kWord)) / 64 * 64;
  return std::min(n, 1024);
}

}  // namespace

void bench_coll_perf(Bench& bench) {
  const bool slow = bench.storage.delayed();
  const int n = slow ? pick(bench.effort, 16, 128, 256) : pick(bench.effort, 16, 256, 512);
  compare(bench, n);
  if (slow || !bench.largest) return;
  if (const int most = largest_that_fits(bench); most > n) compare(bench, most);
}

}  // namespace bench
