// The costs of the page cache, with system calls.
#include "tune_measure.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

#include "text.hpp"

namespace tool {
namespace {

constexpr int64_t kMostMemory = 128 * kMiB;
constexpr int kCalls = 400;  // as short as a time slice of a busy core
constexpr int kGatheredCalls = 40;
constexpr int kPieces = 256;
constexpr size_t kPieceBytes = 64;
constexpr size_t kPieceDistance = 320;  // in memory
constexpr int64_t kCallDistance = 4096;
constexpr int kProgressRuns = 86;  // per repetition, approximately

size_t memory_bytes(int64_t bytes) { return static_cast<size_t>(std::min(bytes, kMostMemory)); }

double median_ns(const Seconds& seconds, double n) { return spread_of(seconds).median * 1e9 / n; }

// Calls of 64 bytes, each in another page.
double small_calls(const ScratchFile& file, std::byte* memory, int64_t bytes, bool writes) {
  return seconds_of([&] {
    for (int64_t i = 0; i < kCalls; ++i) {
      const auto at = static_cast<off_t>(i * kCallDistance % bytes);
      const ssize_t moved =
          writes ? pwrite(file.fd(), memory + at, kPieceBytes, at) : pread(file.fd(), memory + at, kPieceBytes, at);
      if (moved < 0) fail_with_errno(writes ? "write" : "read", file.path());
    }
  });
}

// Calls of 256 pieces scattered in memory, or of one piece of equal size.
double gathered_calls(const ScratchFile& file, const Memory& memory, bool pieces) {
  std::vector<iovec> parts(pieces ? kPieces : 1);
  for (size_t i = 0; i < parts.size(); ++i)
    parts[i] = {memory.data() + i * kPieceDistance, pieces ? kPieceBytes : kPieces * kPieceBytes};
  return seconds_of([&] {
    for (int i = 0; i < kGatheredCalls; ++i) {
      if (pwritev(file.fd(), parts.data(), static_cast<int>(parts.size()), 0) < 0)
        fail_with_errno("write", file.path());
    }
  });
}

// Copies blocks of `memory` into staging.
double large_copies(const Memory& memory, const Memory& staging) {
  return seconds_of([&] {
    for (size_t at = 0; at + staging.size() <= memory.size(); at += staging.size())
      std::memcpy(staging.data(), memory.data() + at, staging.size());
  });
}

// Copies the pieces of gathered_calls() into staging. Lengths alternate, so that the compiler and processor cannot
// assume a fixed length.
double small_copies(const Memory& memory, const Memory& staging) {
  return seconds_of([&] {
    size_t longer = 0;
    for (int i = 0; i < kGatheredCalls; ++i) {
      std::byte* to = staging.data();
      for (size_t piece = 0; piece < kPieces; ++piece) {
        const size_t bytes = kPieceBytes - 16 + longer;
        longer = 32 - longer;
        std::memcpy(to, memory.data() + piece * kPieceDistance, bytes);
        to += bytes;
      }
    }
  });
}

void measure_small(Workbench& bench, const Memory& staging, TunedCosts& costs) {
  const ScratchFile& file = bench.cached;
  const auto in_memory = static_cast<int64_t>(bench.source.size());
  const Timed runs[] = {
      [&] { return small_calls(file, bench.source.data(), in_memory, true); },
      [&] { return small_calls(file, bench.target.data(), in_memory, false); },
      [&] { return gathered_calls(file, bench.source, true); },
      [&] { return gathered_calls(file, bench.source, false); },
      [&] { return large_copies(bench.source, staging); },
      [&] { return small_copies(bench.source, staging); },
  };
  const auto seconds = bench.take_turns(runs, 5);  // short runs
  costs.call_ns = (median_ns(seconds[0], kCalls) + median_ns(seconds[1], kCalls)) / 2;
  const double pieces = median_ns(seconds[2], kGatheredCalls) - median_ns(seconds[3], kGatheredCalls);
  costs.piece_ns = std::max(0.0, pieces / (kPieces - 1));
  const auto bytes = static_cast<double>(bench.source.size());
  costs.copy_byte_ns = median_ns(seconds[4], bytes);
  const double n_pieces = double{kGatheredCalls} * kPieces;
  costs.copy_piece_ns = median_ns(seconds[5], n_pieces);  // their bytes are in a core's cache, at almost no cost
}

// Overwrites cached pages, from memory of `call_bytes` that stays in a core's cache.
double staged_write(Workbench& bench, const Memory& staging) {
  const int64_t bytes = bench.options.bytes;
  const auto call = static_cast<int64_t>(staging.size());
  const double seconds = seconds_of([&] { plain_write(bench.cached, staging, {0, bytes, call}); });
  check_bytes(bench.cached, staging, bytes);
  bench.cached.sync();
  return seconds;
}

double staged_read(Workbench& bench, const Memory& staging) {
  const auto call = static_cast<int64_t>(staging.size());
  return seconds_of([&] { plain_read(bench.cached, staging, {0, bench.options.bytes, call}); });
}

// Nanoseconds per byte, without the calls.
double byte_ns(const Seconds& seconds, int64_t bytes, int64_t call_bytes, double call_ns) {
  const double calls = std::ceil(static_cast<double>(bytes) / static_cast<double>(call_bytes));
  return std::max(0.001, (spread_of(seconds).median * 1e9 - calls * call_ns) / static_cast<double>(bytes));
}

// The smallest staging buffer that is nearly as good as the best one.
size_t best_staging(std::span<const Seconds> seconds) {
  double best = spread_of(seconds[0]).median;
  for (const Seconds& each : seconds) best = std::min(best, spread_of(each).median);
  size_t i = 0;
  while (spread_of(seconds[i]).median > best * kClearlyBetter) ++i;
  return i;
}

constexpr int64_t kStaging[] = {kMiB / 4, kMiB, 4 * kMiB};

// Gives each its name among the speeds.
std::vector<Timed> large_runs(Workbench& bench, const std::vector<Memory>& staging, Measured& found) {
  const int64_t all = bench.options.tasks;
  std::vector<Timed> runs;
  const auto add = [&](const std::string& name, const Timed& run) {
    found.speeds.push_back({name, {}});
    runs.push_back(run);
  };
  add("write, new file", [&bench] { return plain_run(bench, true, true, 1); });
  add("write, overwriting", [&bench] { return plain_run(bench, true, false, 1); });
  add("write, overwriting, all threads", [&bench, all] { return plain_run(bench, true, false, all); });
  add("read", [&bench] { return plain_run(bench, false, false, 1); });
  add("read, all threads", [&bench, all] { return plain_run(bench, false, false, all); });
  for (const Memory& buffer : staging) {
    const std::string size = short_size(static_cast<int64_t>(buffer.size()));
    add("write from " + size + " of staging", [&bench, &buffer] { return staged_write(bench, buffer); });
    add("read to " + size, [&bench, &buffer] { return staged_read(bench, buffer); });
  }
  return runs;
}

}  // namespace

Spread spread_of(Seconds seconds) {
  std::ranges::sort(seconds);
  const size_t n = seconds.size();
  const double median = n % 2 == 1 ? seconds[n / 2] : (seconds[n / 2 - 1] + seconds[n / 2]) / 2;
  return {median, seconds.front(), seconds.back()};
}

Spread mib_per_s(const Seconds& seconds, int64_t bytes) {
  Seconds speeds;
  for (const double each : seconds)
    speeds.push_back(static_cast<double>(bytes) / static_cast<double>(kMiB) / std::max(each, 1e-9));
  return spread_of(std::move(speeds));
}

double median_ratio(const Seconds& a, const Seconds& b) {
  Seconds ratios;
  for (size_t i = 0; i < a.size(); ++i) ratios.push_back(a[i] / std::max(b[i], 1e-9));
  return spread_of(std::move(ratios)).median;
}

Workbench::Workbench(const TuneOptions& given)
    : options(given),
      cached(given.folder),
      past_cache(given.folder),
      source(memory_bytes(given.bytes)),
      target(memory_bytes(given.bytes)),
      progress("tune", given.quiet),
      until(std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                                   std::chrono::duration<double>(given.seconds))) {
  source.fill(1);
  target.clear();
}

std::vector<Seconds> Workbench::take_turns(std::span<const Timed> runs, int times) {
  std::vector<Seconds> seconds(runs.size());
  const int least = times * std::min(options.repetitions, kLeastRepetitions);
  for (int repetition = 0; repetition < times * options.repetitions; ++repetition) {
    late = late || std::chrono::steady_clock::now() > until;
    if (late && repetition >= least) break;
    for (size_t i = 0; i < runs.size(); ++i) {
      seconds[i].push_back(runs[i]());
      ++runs_done;
      const int64_t all = int64_t{kProgressRuns} * options.repetitions;
      progress.update(std::min(runs_done, all) * options.bytes, all * options.bytes);
    }
  }
  return seconds;
}

double seconds_of(const std::function<void()>& work) {
  stop_if_interrupted();
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void measure_costs(Workbench& bench, Measured& found) {
  const int64_t bytes = bench.options.bytes;
  TunedCosts& costs = found.buffered;
  std::vector<Memory> staging;
  for (const int64_t size : kStaging) {
    staging.emplace_back(static_cast<size_t>(size));
    staging.back().fill(2);
  }
  plain_run(bench, true, true, 1);
  measure_small(bench, staging[1], costs);
  // A read into staging returns the data of the last write, possibly of another buffer.
  const auto seconds = bench.take_turns(large_runs(bench, staging, found));
  const size_t best = best_staging(std::vector<Seconds>{seconds[5], seconds[7], seconds[9]});
  found.staging_bytes = kStaging[best];
  costs.write_byte_ns = byte_ns(seconds[1], bytes, kMiB, costs.call_ns);
  costs.read_byte_ns = byte_ns(seconds[3], bytes, kMiB, costs.call_ns);
  costs.staged_write_byte_ns = byte_ns(seconds[5 + 2 * best], bytes, kStaging[best], costs.call_ns);
  costs.staged_read_byte_ns = byte_ns(seconds[6 + 2 * best], bytes, kStaging[best], costs.call_ns);
  // On a busy machine two threads get more time than one, so a parallel inode needs a clear speed-up.
  costs.parallel_writes = median_ratio(seconds[1], seconds[2]) > 1.25 ? 0 : 1;
  costs.parallel_reads = median_ratio(seconds[3], seconds[4]) < 0.9 ? 1 : 0;
  for (size_t i = 0; i < seconds.size(); ++i) found.speeds[i].mib_per_s = mib_per_s(seconds[i], bytes);
}

Measured measure_storage(const TuneOptions& options) {
  Measured found;
  Workbench bench(options);
  measure_costs(bench, found);
  measure_direct(bench, found);
  measure_access(bench, found);
  found.late = bench.late && options.repetitions > kLeastRepetitions;
  return found;
}

}  // namespace tool
