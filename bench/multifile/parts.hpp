// The parts of the multifile benchmark. Each adds its comparisons and targets to the report.
#ifndef BENCH_MULTIFILE_PARTS_HPP
#define BENCH_MULTIFILE_PARTS_HPP

#include <cstdint>
#include <string>

#include "support/comparison.hpp"
#include "support/effort.hpp"
#include "support/report.hpp"
#include "support/scratch.hpp"

namespace bench {

// Shared state of the parts.
struct Bench {
  Effort effort;
  Scratch& scratch;
  Report& report;
  double started;  // start of the program, on the clock of now()

  // Number of repetitions in a full run, reduced in other runs and further in a late quick run.
  Plan plan(int repetitions, bool warm_up) const;
  // Name of a target on this file system.
  std::string on(const std::string& what) const { return scratch.kind() + ": " + what; }
};

// "64k", "1M"
std::string count_text(std::int64_t n);

void bench_bandwidth(Bench& bench);  // (b) and checksums of (e)
void bench_direct(Bench& bench);
void bench_physical_files(Bench& bench);  // as the study of SIONlib (Frings et al., SC 2009) varied them
void bench_many_tasks(Bench& bench);
void bench_alignment(Bench& bench);
void bench_compression(Bench& bench);                  // (e)
void bench_records(Bench& bench);                      // (c)
void bench_restart(Bench& bench);                      // (d)
void bench_create(Bench& bench);                       // (a): empty logical files
void bench_small(Bench& bench);                        // (a): logical files of 1 KiB
void bench_growth(Bench& bench);                       // (a): a million, time and memory
void bench_open_one(Bench& bench);                     // one logical file of a million
void bench_overlap(Bench& bench);                      // (g)
void bench_names(Bench& bench);                        // (h)
void bench_tier(Bench& bench);                         // (i)
void bench_simulation(Effort effort, Report& report);  // (f)

// In a process of its own: creates `files` empty logical files with `tasks` tasks (0: one task without a group) in
// `folder`, and prints the costs as JSON.
void probe_create(const std::string& folder, std::int64_t files, int tasks);
// In a process of its own: simulates `tasks` tasks and prints the costs as JSON.
void probe_simulate(std::int64_t tasks);

}  // namespace bench

#endif
