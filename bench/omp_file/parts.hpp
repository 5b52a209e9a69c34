// The parts of the omp_file benchmark. Each adds its comparisons and targets to the report.
#ifndef BENCH_OMP_FILE_PARTS_HPP
#define BENCH_OMP_FILE_PARTS_HPP

#include <functional>
#include <string>
#include <vector>

#include "support/comparison.hpp"
#include "support/report.hpp"
#include "support/scratch.hpp"

namespace bench {

// tiny: does it run and are the bytes right; quick: about a minute; full: sizes and repetitions of the published table.
enum class Effort { tiny, quick, full };

template <class T>
T pick(Effort effort, T tiny, T quick, T full) {
  return effort == Effort::tiny ? tiny : effort == Effort::quick ? quick : full;
}

struct Bench {
  Effort effort;
  Scratch& scratch;
  Report& report;
  std::vector<int> threads;

  Plan plan(int repetitions) const {
    return {pick(effort, 1, std::min(repetitions, 5), repetitions), pick(effort, 0.1, 4.0, 1e9),
            effort != Effort::tiny};
  }
  std::string on(const std::string& what) const { return scratch.kind() + ": " + what; }
};

void bench_empty(Bench& bench);     // what a collective costs that moves nothing
void bench_segments(Bench& bench);  // (1) to (4): one shared file, files per thread, omp_file; writing and reading
void bench_bt_io(Bench& bench);     // (5)
void bench_skewed(Bench& bench);    // (6)
void bench_records(Bench& bench);   // (7)
void bench_overlap(Bench& bench);   // nonblocking writes past the page cache while all threads compute

// Ends the program when an omp_file call failed.
void must_io(int result, const char* what);

}  // namespace bench

#endif
