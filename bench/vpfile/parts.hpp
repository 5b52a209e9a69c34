// The parts of the vpfile benchmark. Each adds its comparisons and targets to the report.
#ifndef BENCH_VPFILE_PARTS_HPP
#define BENCH_VPFILE_PARTS_HPP

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
  int tasks;

  Plan plan() const {
    if (effort == Effort::tiny) return {1, 0, false};
    if (effort == Effort::quick) return {5, 10.0, true, 3, 60.0};
    return {9, 60.0, true, 3, 200.0};
  }
  std::string on(const std::string& what) const { return scratch.kind() + ": " + what; }
};

void bench_modes(Bench& bench);     // NB, CB and IB against a plain collective write of the same bytes
void bench_blocks(Bench& bench);    // IB: block sizes, pointers per entry
void bench_requests(Bench& bench);  // the experiments of Stream*: doubles per access, buffers, blocks, pointers, caches
void bench_appends(Bench& bench);   // appends of varying size in many steps, compared with HDF5 where installed
void bench_files(Bench& bench);     // compared with a file for each virtual processor
void bench_many(Bench& bench);      // millions of virtual processors: open time, memory

// Ends the program when a call failed.
void must_tw(int status, const char* what);

}  // namespace bench

#endif
