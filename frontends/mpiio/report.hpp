// Report: what was done with a file, in one line on stderr at its close, where THALWEG_MPIIO_REPORT is set.
#pragma once

#include <cstdint>

#include "thalweg/file.h"

namespace thalweg::mpiio {

struct OpenFile;

// What one rank has done with a file.
struct Activity {
  std::int64_t calls_read = 0, calls_written = 0;
  std::int64_t bytes_read = 0, bytes_written = 0;  // of memory
  std::int64_t nanoseconds = 0;                    // within calls that access data or wait for them

  void add(tw_direction direction, std::int64_t bytes);
};

// Adds the time of its life to an activity.
class Stopwatch {
 public:
  explicit Stopwatch(Activity& activity);
  ~Stopwatch();
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  Activity& activity_;
  std::int64_t begin_;
};

// Whether THALWEG_MPIIO_REPORT is set for this rank.
bool is_report_wanted();
// Prints the line, with the sums of all ranks. Collective; nothing where no report is wanted.
void report(OpenFile& file);

}  // namespace thalweg::mpiio
