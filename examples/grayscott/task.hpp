// The work of one task, a thread of a rank, from the first step to the last.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <thalweg/thalweg.hpp>

#include "domain.hpp"
#include "model.hpp"
#include "restart.hpp"

namespace grayscott {

struct Options {
  std::int64_t size = 512;
  std::int64_t steps = 4000;
  std::int64_t checkpoint_every = 400;
  std::int64_t log_every = 100;
  std::string name = "grayscott";  // files are NAME.ckpt.tw, NAME.log.tw, NAME.field
  std::string restart;             // a checkpoint file; empty: start at step 0
  bool waits_for_disk = false;     // at each checkpoint, instead of computing on
  std::int64_t die_at = -1;        // test mode: one process dies while the others write the checkpoint of this step
};

// Shared by the threads of a rank.
struct Run {
  const Options& options;
  const Domain& domain;
  const Model& model;
  const thalweg::Group& ranks;
  const Catalogue& catalogue;  // of the checkpoint to restart from, if any
  Fields fields[2];            // the state of step s is in fields[s % 2]
};

class Task {
 public:
  // Opens the files of the run. Collective over all threads of all ranks, as is work().
  explicit Task(Run& run);

  // Computes all steps, then closes the files.
  void work();

 private:
  std::int64_t start();
  void advance(std::int64_t step);
  void checkpoint(std::int64_t step);
  void log(std::int64_t step);
  void say_stall() const;
  bool is_first() const { return tw_group_rank(group_.get()) == 0; }

  Run& run_;
  const int thread_;
  const Box strip_;
  const thalweg::Group group_;
  thalweg::Multifile checkpoints_;
  thalweg::Multifile events_;
  thalweg::Stream events_text_;                         // of events_
  thalweg::Request last_sync_;                          // of the last checkpoint
  std::chrono::duration<double, std::milli> stall_{0};  // time spent in checkpoints instead of in computing
  int n_checkpoints_ = 0;
  std::chrono::steady_clock::time_point last_log_ = std::chrono::steady_clock::now();
};

}  // namespace grayscott
