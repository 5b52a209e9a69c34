// Measurements of `thalweg tune` on a file system, and the decisions based on them. Measurements are repeated, compared
// ones are interleaved, and every byte is verified.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "progress.hpp"
#include "text.hpp"
#include "tune_scratch.hpp"

namespace tool {

constexpr int64_t kFilesPerNode = 4;     // of a multifile by default, on a local file system
constexpr int kLeastRepetitions = 3;     // unless fewer are requested: a median of three tolerates one disturbance
constexpr double kClearlyBetter = 1.05;  // smaller factors are noise

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
  Json entry = Json::object();  // members of the profile (docs/design/storage.md)
  Json speeds = Json::array();  // {"what": ..., "mib_per_s": {"median": ..., "least": ..., "most": ...}}
  Json gains = Json::object();  // of direct I/O, the least: {"write": ..., "read": ...}; empty without direct I/O
  bool late = false;            // too little time for all repetitions
};

// Throws Failure and Interrupted; scratch files are removed in any case.
Measured measure_storage(const TuneOptions& options);

// ---- Parts of it ----------------------------------------------------------------------------------------------------

using Seconds = std::vector<double>;  // one per repetition
// A run: returns the measured seconds. With its name and bytes it is listed among the speeds.
struct Timed {
  std::function<double()> run;
  std::string what = {};
  int64_t bytes = 0;
};

double median(Seconds seconds);
// Median of a[i] / b[i].
double median_ratio(const Seconds& a, const Seconds& b);
// A cost as the profile keeps it.
double rounded(double value);

double seconds_of(const std::function<void()>& work);
// The seconds in which `tasks` threads do what they pass to `timed`, all at once: from the first start to the last end.
using TimedWork = std::function<void(const std::function<void()>& work)>;
double together(int64_t tasks, const std::function<void(int64_t rank, const TimedWork& timed)>& task);

// Resources and state of runs.
class Workbench {
 public:
  Workbench(const TuneOptions& given, Measured& measured);
  // Makes each of `runs` once, then again, so that disturbances affect all. As often as the options say, times `times`;
  // less often once the time has passed. [run][repetition]
  std::vector<Seconds> take_turns(const std::vector<Timed>& runs, int times = 1);

  // `tasks` threads move their shares of the scratch file with pread and pwrite of 1 MiB.
  double plain_run(bool writes, bool fresh, int64_t tasks);
  // Likewise through the library, and its hints.
  double library_run(bool writes, bool fresh, int64_t tasks, const std::string& hints);

  const TuneOptions& options;
  Measured& found;
  const ScratchFolder folder;
  const ScratchFile cached, past_cache;  // always in the page cache; not cached between runs
  const Memory source, target;

 private:
  void check_run(const ScratchFile& file, bool writes) const;

  Progress progress_;
  int64_t runs_done_ = 0;
  const std::chrono::steady_clock::time_point until_;
};

// Buffers of several sizes that stay in a core's cache, through which cached pages are overwritten and read.
class Staging {
 public:
  Staging();
  // Two for each buffer. They leave bytes in the scratch file that nobody can verify.
  std::vector<Timed> runs(Workbench& bench) const;
  // By the seconds of these runs, which come first: the smallest buffer that is nearly as good as the best one.
  void choose(const std::vector<Seconds>& seconds, int64_t bytes, Json& entry) const;

 private:
  std::vector<Memory> buffers_;
};

// Nanoseconds per byte, without the calls.
double byte_ns(const Seconds& seconds, int64_t bytes, int64_t call_bytes, double call_ns);

void measure_small(Workbench& bench);  // tune_costs.cpp: calls, pieces and copies
void measure_bytes(Workbench& bench);  // tune_direct.cpp: bytes, and whether direct I/O pays
void measure_files(Workbench& bench);  // tune_files.cpp: making files, and how many serve

}  // namespace tool
