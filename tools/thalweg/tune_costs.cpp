// The costs of the page cache, with system calls.
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "tune_measure.hpp"

namespace tool {
namespace {

constexpr int kCalls = 400;  // as short as a time slice of a busy core
constexpr int kGatheredCalls = 40;
constexpr int kPieces = 256;
constexpr size_t kPieceBytes = 64;
constexpr size_t kPieceDistance = 320;  // in memory
constexpr int64_t kCallDistance = 4096;
constexpr std::array kStaging = {kMiB / 4, kMiB, 4 * kMiB};

// Calls of 64 bytes, each in another page.
double small_calls(const ScratchFile& file, const Memory& memory, bool writes) {
  return seconds_of([&] {
    for (int64_t i = 0; i < kCalls; ++i) {
      const int64_t at = i * kCallDistance % memory.size();
      std::byte* const place = memory.data() + at;
      const ssize_t moved =
          writes ? pwrite(file.fd(), place, kPieceBytes, at) : pread(file.fd(), place, kPieceBytes, at);
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
    for (int64_t at = 0; at + staging.size() <= memory.size(); at += staging.size())
      std::memcpy(staging.data(), memory.data() + at, static_cast<size_t>(staging.size()));
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

// Overwrites cached pages from memory that stays in a core's cache, or reads them into it.
double staged_run(Workbench& bench, const Memory& staging, bool writes) {
  const int64_t bytes = bench.options.bytes;
  const double seconds = seconds_of([&] { plain_move(writes, bench.cached, staging, {0, bytes, staging.size()}); });
  if (!writes) return seconds;  // of the data of the last write, possibly of another buffer
  check_bytes(bench.cached, staging, bytes);
  bench.cached.sync();
  return seconds;
}

}  // namespace

Staging::Staging() {
  for (const int64_t size : kStaging) buffers_.emplace_back(size).fill(2);
}

std::vector<Timed> Staging::runs(Workbench& bench) const {
  std::vector<Timed> runs;
  for (const Memory& buffer : buffers_)
    for (const bool writes : {true, false})
      runs.push_back({[&, writes] { return staged_run(bench, buffer, writes); },
                      (writes ? "write from " : "read to ") + short_size(buffer.size()) + " of staging",
                      bench.options.bytes});
  return runs;
}

void Staging::choose(const std::vector<Seconds>& seconds, int64_t bytes, Json& entry) const {
  double best = median(seconds[0]);
  for (size_t i = 0; i < buffers_.size(); ++i) best = std::min(best, median(seconds[2 * i]));
  size_t i = 0;
  while (median(seconds[2 * i]) > best * kClearlyBetter) ++i;
  Json& costs = entry["buffered"];
  costs["staged_write_byte_ns"] = byte_ns(seconds[2 * i], bytes, kStaging.at(i), costs["call_ns"]);
  costs["staged_read_byte_ns"] = byte_ns(seconds[2 * i + 1], bytes, kStaging.at(i), costs["call_ns"]);
  entry["staging_bytes"] = kStaging.at(i);
}

double byte_ns(const Seconds& seconds, int64_t bytes, int64_t call_bytes, double call_ns) {
  const auto n = static_cast<double>(bytes);
  const double calls = std::ceil(n / static_cast<double>(call_bytes));
  return rounded(std::max(0.001, (median(seconds) * 1e9 - calls * call_ns) / n));
}

void measure_small(Workbench& bench) {
  const Memory staging(kMiB);
  bench.plain_run(true, true, 1);
  const auto seconds = bench.take_turns(
      {
          {[&] { return small_calls(bench.cached, bench.source, true); }},
          {[&] { return small_calls(bench.cached, bench.target, false); }},
          {[&] { return gathered_calls(bench.cached, bench.source, true); }},
          {[&] { return gathered_calls(bench.cached, bench.source, false); }},
          {[&] { return large_copies(bench.source, staging); }},
          {[&] { return small_copies(bench.source, staging); }},
      },
      5);  // short runs
  const auto ns = [&](size_t run, double n) { return median(seconds[run]) * 1e9 / n; };
  Json& costs = bench.found.entry["buffered"];
  costs["call_ns"] = rounded((ns(0, kCalls) + ns(1, kCalls)) / 2);
  costs["piece_ns"] = rounded(std::max(0.0, ns(2, kGatheredCalls) - ns(3, kGatheredCalls)) / (kPieces - 1));
  costs["copy_byte_ns"] = rounded(ns(4, static_cast<double>(bench.source.size())));
  // Their bytes are in a core's cache, at almost no cost.
  costs["copy_piece_ns"] = rounded(ns(5, double{kGatheredCalls} * kPieces));
}

}  // namespace tool
