#include "task.hpp"

#include <omp.h>
#include <signal.h>

#include <thalweg/group_omp.h>
#include <algorithm>
#include <cstdio>
#include <string>

#include "record.hpp"

namespace grayscott {
namespace {

// A hint, not a limit: the bytes that a task expects to write.
thalweg::Options expect(std::int64_t bytes) {
  thalweg::Options config;
  config.hint("chunk_bytes", std::to_string(bytes));
  return config;
}

// Number of records that the run will append to each logical file.
std::int64_t n_records(const Run& run) {
  const std::int64_t every = run.options.checkpoint_every;
  return run.options.steps / every - std::max<std::int64_t>(run.catalogue.step, 0) / every;
}

}  // namespace

Task::Task(Run& run)
    : run_(run),
      thread_(omp_get_thread_num()),
      strip_(run.domain.strip(thread_, omp_get_num_threads())),
      group_(thalweg::Group::make(tw_group_hybrid_omp, run.ranks.get())),
      checkpoints_(group_, run.options.name + ".ckpt.tw", TW_CREATE | TW_TRUNCATE,
                   expect(std::max<std::int64_t>(n_records(run), 1) * RecordHeader{.box = strip_}.record_bytes())),
      events_(group_, run.options.name + ".log.tw", TW_CREATE | TW_TRUNCATE, expect(16384)),
      events_text_(events_.fopen("w")) {
  std::fprintf(events_text_.get(), "task %lld of %lld: rank %d, thread %d, columns %lld to %lld, rows %lld to %lld\n",
               static_cast<long long>(tw_group_rank(group_.get())), static_cast<long long>(tw_group_size(group_.get())),
               run.domain.rank(), thread_, static_cast<long long>(strip_.x),
               static_cast<long long>(strip_.x + strip_.nx - 1), static_cast<long long>(strip_.y),
               static_cast<long long>(strip_.y + strip_.ny - 1));
}

// Fills this task's strip; returns its step.
std::int64_t Task::start() {
  const Catalogue& catalogue = run_.catalogue;
  if (run_.options.restart.empty()) {
    run_.model.start(run_.fields[0], strip_);
    return 0;
  }
  read_strip(group_, run_.options.restart, catalogue, strip_, run_.fields[catalogue.step % 2]);
  return catalogue.step;
}

void Task::work() {
  const Options& options = run_.options;
  for (std::int64_t step = start(); step < options.steps;) {
    advance(step);
    ++step;
    if (step % options.log_every == 0) log(step);
    if (step % options.checkpoint_every == 0) checkpoint(step);
  }
  last_sync_.wait();
  if (is_first()) say_stall();
  events_text_.reset();
  events_.close();
  checkpoints_.close();
}

void Task::say_stall() const {
  std::printf(
      "the first task stood still for %.2f ms at each of %d checkpoints%s\n",
      stall_.count() / std::max(n_checkpoints_, 1), n_checkpoints_,
      run_.options.waits_for_disk ? ", until they were on the disk" : " and computed while they went to the disk");
}

// Advances from `step` to the next. Only thread 0 communicates with other ranks.
void Task::advance(std::int64_t step) {
  Fields& now = run_.fields[step % 2];
#pragma omp barrier
  if (thread_ == 0) run_.domain.exchange_ghosts(now);
#pragma omp barrier
  run_.model.step(now, run_.fields[(step + 1) % 2], strip_);
}

void Task::checkpoint(std::int64_t step) {
  const bool is_last = tw_group_rank(group_.get()) == tw_group_size(group_.get()) - 1;
  if (step == run_.options.die_at && is_last) raise(SIGKILL);

  const auto begin = std::chrono::steady_clock::now();
  last_sync_.wait();  // usually long complete
  write_record(checkpoints_, run_.fields[step % 2],
               RecordHeader{.size = run_.options.size, .step = step, .box = strip_});
  if (run_.options.waits_for_disk) {
    checkpoints_.sync();
  } else {
    last_sync_ = checkpoints_.isync();
  }
  stall_ += std::chrono::steady_clock::now() - begin;
  ++n_checkpoints_;

  thalweg::check(tw_group_barrier(group_.get()));  // so that the message below is true for all tasks
  if (is_first()) {
    std::printf("step %6lld  checkpoint flushed by all %lld tasks\n", static_cast<long long>(step),
                static_cast<long long>(tw_group_size(group_.get())));
    std::fflush(stdout);
  }
}

// Appends one line to this task's event log and flushes it.
void Task::log(std::int64_t step) {
  const auto now = std::chrono::steady_clock::now();
  const double ms = std::chrono::duration<double, std::milli>(now - last_log_).count();
  double highest = 0;
  for (std::int64_t y = strip_.y; y < strip_.y + strip_.ny; ++y) {
    const double* const row = run_.fields[step % 2].v(strip_.x, y);
    highest = std::max(highest, *std::max_element(row, row + strip_.nx));
  }
  std::fprintf(events_text_.get(), "step %6lld  %6.3f ms a step, highest v %.6f\n", static_cast<long long>(step),
               ms / static_cast<double>(run_.options.log_every), highest);
  std::fflush(events_text_.get());
  events_.flush();
  last_log_ = now;
}

}  // namespace grayscott
