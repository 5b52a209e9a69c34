#include "mpiio/report.hpp"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "mpiio/open_file.hpp"

namespace thalweg::mpiio {

namespace {

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Accesses of several threads end at once.
void add_to(std::int64_t& sum, std::int64_t amount) {
  std::atomic_ref(sum).fetch_add(amount, std::memory_order_relaxed);
}

std::string amount(std::int64_t bytes, std::int64_t calls, const char* done) {
  char text[96];
  std::snprintf(text, sizeof text, "%.1f MiB %s by %lld calls", static_cast<double>(bytes) / (1 << 20), done,
                static_cast<long long>(calls));
  return text;
}

}  // namespace

bool is_report_wanted() { return std::getenv("THALWEG_MPIIO_REPORT") != nullptr; }

void Activity::add(tw_direction direction, std::int64_t bytes) {
  add_to(direction == TW_ACCESS_READ ? calls_read : calls_written, 1);
  add_to(direction == TW_ACCESS_READ ? bytes_read : bytes_written, bytes);
}

Stopwatch::Stopwatch(Activity& activity) : activity_(activity), begin_(now()) {}
Stopwatch::~Stopwatch() { add_to(activity_.nanoseconds, now() - begin_); }

void report(OpenFile& file) {
  if (file.communicator->reports == 0) return;
  const Activity& mine = file.activity;
  std::int64_t sums[4] = {mine.calls_read, mine.calls_written, mine.bytes_read, mine.bytes_written};
  std::int64_t longest = mine.nanoseconds;
  if (tw_group_allreduce(file.communicator->group, sums, 4, TW_SUM) != TW_OK ||
      tw_group_allreduce(file.communicator->group, &longest, 1, TW_MAX) != TW_OK || file.communicator->rank != 0)
    return;
  const std::string plan = tw_file_last_plan(file.file);
  std::fprintf(stderr, "thalweg: '%s': %d ranks, %s, %s, %.3f s in the slowest rank; last collective access: %s\n",
               file.path.c_str(), file.communicator->size, amount(sums[3], sums[1], "written").c_str(),
               amount(sums[2], sums[0], "read").c_str(), static_cast<double>(longest) * 1e-9,
               plan.empty() ? "none" : plan.c_str());
}

}  // namespace thalweg::mpiio
