// Measurements of `thalweg tune` on a file system, and the decisions based on them. Measurements are repeated, compared
// ones are interleaved, and every byte is verified.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "progress.hpp"
#include "tune_scratch.hpp"

namespace tool {

// Over repeated runs.
struct Spread {
  double median = 0, least = 0, most = 0;
};

// Nanoseconds, and numbers of workers: the members of StorageCosts with these names (docs/design/storage.md).
struct TunedCosts {
  double call_ns = 0, piece_ns = 0;
  double read_byte_ns = 0, write_byte_ns = 0, staged_read_byte_ns = 0, staged_write_byte_ns = 0;
  double copy_byte_ns = 0, copy_piece_ns = 0;
  int64_t parallel_reads = 0, parallel_writes = 0;
};

struct Speed {
  std::string what;
  Spread mib_per_s;
};

// Direct I/O through the library.
struct DirectPoint {
  int64_t depth = 1;
  int64_t transfer_bytes = kMiB;
  Spread write, read;  // MiB/s
};

// Equal data in three ways.
struct Contest {
  bool writes = true;
  bool fresh = false;  // into an empty file
  int64_t tasks = 1;
  Spread plain, buffered, direct;  // MiB/s: pread and pwrite; the library through the page cache, and with direct I/O
  double gain = 0;                 // direct relative to the better of the others: median within the repetitions
};

// All threads write at once to so many files.
struct FilesSpeed {
  int64_t files = 1, tasks = 1;
  Spread mib_per_s = {};
};

struct TuneOptions {
  std::string folder;
  int64_t bytes = 0;  // of the scratch file, a multiple of 1 MiB
  int64_t tasks = 1;  // "all"
  int repetitions = 5;
  double seconds = 1e9;  // afterwards each measurement makes only kLeastRepetitions
  bool has_direct = false;
  bool quiet = false;
};

struct Measured {
  TunedCosts buffered, direct;
  std::vector<Speed> speeds;
  std::vector<DirectPoint> points;
  std::vector<Contest> contests;
  std::vector<FilesSpeed> files;
  double create_ns = 0;        // of a new file
  int64_t physical_files = 1;  // as many as are 20 % faster than fewer, written by all threads
  int64_t queue_depth = 4, transfer_bytes = 4 * kMiB, staging_bytes = kMiB;
  bool direct_reads = false, direct_writes = false;
  bool late = false;  // too little time for all repetitions
};

// Throws Failure and Interrupted; scratch files are removed in any case.
Measured measure_storage(const TuneOptions& options);

// ---- Parts of it ----------------------------------------------------------------------------------------------------

using Seconds = std::vector<double>;            // one per repetition
using Timed = std::function<double()>;          // one run: returns the measured seconds
inline constexpr double kClearlyBetter = 1.05;  // smaller factors are noise
inline constexpr int64_t kFilesPerNode = 4;     // of a multifile by default, on a local file system
inline constexpr int kLeastRepetitions = 3;  // unless fewer are requested: a median of three tolerates one disturbance

Spread spread_of(Seconds seconds);
Spread mib_per_s(const Seconds& seconds, int64_t bytes);
// Median of a[i] / b[i].
double median_ratio(const Seconds& a, const Seconds& b);

// The seconds in which `tasks` threads make their calls of `work`, all at once.
double together(int64_t tasks, const std::function<void(int64_t rank)>& work);

// First start and last end of all tasks. A task that waits for a core starts late.
using Clock = std::chrono::steady_clock;
struct Times {
  explicit Times(int64_t tasks) : begin(static_cast<size_t>(tasks)), end(static_cast<size_t>(tasks)) {}
  double seconds() const {
    return std::chrono::duration<double>(*std::ranges::max_element(end) - *std::ranges::min_element(begin)).count();
  }
  std::vector<Clock::time_point> begin, end;
};

// Resources and state of runs.
struct Workbench {
  explicit Workbench(const TuneOptions& given);
  // Makes each of `runs` once, then again, so that disturbances affect all. As often as the options say, times `times`;
  // less often once the time has passed. [run][repetition]
  std::vector<Seconds> take_turns(std::span<const Timed> runs, int times = 1);

  const TuneOptions& options;
  ScratchFile cached;      // always in the page cache
  ScratchFile past_cache;  // not cached between runs
  Memory source, target;
  Progress progress;
  int64_t runs_done = 0;
  const std::chrono::steady_clock::time_point until;
  bool late = false;
};

// Seconds of `work`; checks for an interruption first.
double seconds_of(const std::function<void()>& work);
// `tasks` threads move their shares of the scratch file with pread and pwrite of 1 MiB.
double plain_run(Workbench& bench, bool writes, bool fresh, int64_t tasks);
// Like plain_run(), through the library.
struct LibraryRun {
  bool writes = true;
  bool fresh = false;
  int64_t tasks = 1;
  bool direct = false;
  int64_t depth = 4;
  int64_t transfer_bytes = kMiB;
  std::string hints() const;
};
double library_run(Workbench& bench, const LibraryRun& run);
// Seconds of one direct access of 4 KiB.
double small_direct_run(Workbench& bench, bool writes);

void measure_costs(Workbench& bench, Measured& found);   // tune_measure.cpp
void measure_direct(Workbench& bench, Measured& found);  // tune_direct.cpp
void measure_access(Workbench& bench, Measured& found);  // tune_access.cpp

}  // namespace tool
