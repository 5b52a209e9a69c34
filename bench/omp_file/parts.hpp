// The parts of the omp_file benchmark. Each adds its comparisons and targets to the report.
#ifndef BENCH_OMP_FILE_PARTS_HPP
#define BENCH_OMP_FILE_PARTS_HPP

#include <functional>
#include <string>
#include <vector>

#include "support/comparison.hpp"
#include "support/effort.hpp"
#include "support/report.hpp"
#include "support/scratch.hpp"

namespace bench {

struct Bench {
  Effort effort;
  Scratch& scratch;
  Report& report;
  std::vector<int> threads;

  // Two threads get the full number of repetitions, other numbers fewer.
  Plan plan(int of_threads) const {
    if (effort == Effort::tiny) return {1, 0, false};
    if (effort == Effort::quick) return {5, 4.0, true, 3, 30.0};
    return of_threads == 2 ? Plan{9, 15.0, true, 5, 100.0} : Plan{3, 1e9, false, 3, 40.0};
  }
  std::string on(const std::string& what) const { return scratch.kind() + ": " + what; }
};

void bench_empty(Bench& bench);      // cost of a collective without data
void bench_segments(Bench& bench);   // (1) to (4): one shared file, files per thread, omp_file; writing and reading
void bench_bt_io(Bench& bench);      // (5)
void bench_skewed(Bench& bench);     // (6)
void bench_records(Bench& bench);    // (7)
void bench_transport(Bench& bench);  // (8)
void bench_overlap(Bench& bench);    // nonblocking writes with direct I/O while all threads compute

// Ends the program when an omp_file call failed.
void must_io(int result, const char* what);

}  // namespace bench

#endif
