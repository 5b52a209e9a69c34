// Measurements of `thalweg tune` on a file system, and the decisions based on them. Measurements are repeated, and
// compared ones are interleaved.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "../probe/posix_file.hpp"
#include "../probe/stopwatch.hpp"
#include "progress.hpp"
#include "text.hpp"

namespace tool {

using probe::Buffer, probe::Lap, probe::PosixFile;

constexpr int64_t kMiB = int64_t{1} << 20;
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

// Throws std::exception and Interrupted; scratch files are removed in any case.
Measured measure_storage(const TuneOptions& options);

// ---- Parts of it ----------------------------------------------------------------------------------------------------

// What is measured several times.
struct Timed {
  std::string what;  // among the speeds; "": not listed
  int64_t bytes;
  std::function<double()> once;  // returns seconds
  std::vector<double> seconds = {};

  double median() const;
  double byte_ns() const;  // nanoseconds
};

// Median of a / b, by repetitions.
double median_ratio(const Timed& a, const Timed& b);
// A cost as the profile keeps it.
double rounded(double value);

// The seconds in which `tasks` threads work, all at once: from the first begin to the last end. Work that begins later than
// its thread sets `begin`.
using Work = std::function<void(int64_t rank, std::chrono::steady_clock::time_point& begin)>;
double together(int64_t tasks, const Work& work);

// A range of a file that a transfer moves: the memory repeatedly, in calls of `call_bytes`.
struct Stretch {
  int64_t begin, end, call_bytes = kMiB;
};
void plain_move(bool writes, const PosixFile& file, std::span<std::byte> memory, const Stretch& stretch);
// Page-aligned memory whose bytes differ between pages and seeds.
Buffer filled(int64_t bytes, unsigned seed);

// A new folder in that of the user, removed with all its content.
struct ScratchFolder {
  explicit ScratchFolder(const std::string& parent);
  ~ScratchFolder();

  std::string path;
};

// Resources and state of runs.
class Workbench {
 public:
  Workbench(const TuneOptions& given, Measured& measured);

  // A run for the next take_turns(). Without `bytes`: those of the scratch file.
  const Timed& add(const std::string& what, const std::function<double()>& once, int64_t bytes = 0);
  // Makes each added run once, then again, so that disturbances affect all. As often as the options say, times `times`;
  // less often once the time has passed.
  void take_turns(int times = 1);

  // `tasks` threads move their shares of the scratch file with pread and pwrite of 1 MiB.
  double plain_run(bool writes, bool fresh, int64_t tasks) const;
  // Likewise past the page cache, through the library, with its hints.
  double direct_run(bool writes, bool fresh, int64_t tasks, const std::string& hints) const;

  const TuneOptions& options;
  Measured& found;
  const ScratchFolder folder;
  const PosixFile cached, past_cache;  // always in the page cache; not cached between runs
  const Buffer source, target;

 private:
  Progress progress_;
  std::deque<Timed> runs_;
  size_t done_ = 0;  // of runs_
  const std::chrono::steady_clock::time_point until_;
};

void measure_small(Workbench& bench);  // tune_small.cpp: calls, pieces and copies
void measure_files(Workbench& bench);  // tune_small.cpp: making files, and how many serve
void measure_bytes(Workbench& bench);  // tune_bytes.cpp: bytes, and whether direct I/O pays

}  // namespace tool
