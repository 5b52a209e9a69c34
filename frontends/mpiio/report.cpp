#include "mpiio/report.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
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

// Null: no report is wanted.
const char* wish() {
  const char* const set = std::getenv("THALWEG_MPIIO_REPORT");
  return set != nullptr && *set != '\0' ? set : nullptr;
}

// In quotes, as JSON has it.
std::string quoted(const std::string& text) {
  std::string made = "\"";
  for (const char c : text) {
    char code[8];
    std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(c)));
    if (c == '"' || c == '\\') made += '\\';
    made += static_cast<unsigned char>(c) < ' ' ? std::string(code) : std::string(1, c);
  }
  return made + '"';
}

// The sums of all ranks for a file.
struct Sum {
  std::int64_t calls_read, calls_written, bytes_read, bytes_written;
  std::int64_t nanoseconds;
  std::string plan;
};

// One write, so that records of several programs do not mix.
void add_record(const char* records, const OpenFile& file, const Sum& sum) {
  const std::string line =
      "{\"file\":" + quoted(file.path) + ",\"ranks\":" + std::to_string(file.communicator->size) +
      ",\"calls_written\":" + std::to_string(sum.calls_written) +
      ",\"bytes_written\":" + std::to_string(sum.bytes_written) + ",\"calls_read\":" + std::to_string(sum.calls_read) +
      ",\"bytes_read\":" + std::to_string(sum.bytes_read) + ",\"nanoseconds\":" + std::to_string(sum.nanoseconds) +
      ",\"plan\":" + quoted(sum.plan) + "}\n";
  const int fd = ::open(records, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  const bool written = fd >= 0 && ::write(fd, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  if (!written)
    std::fprintf(stderr, "thalweg: cannot add to '%s' (THALWEG_MPIIO_REPORT): %s\n", records, std::strerror(errno));
  if (fd >= 0) ::close(fd);
}

void print_line(const OpenFile& file, const Sum& sum) {
  std::fprintf(stderr, "thalweg: '%s': %d ranks, %s, %s, %.3f s in the slowest rank; last collective access: %s\n",
               file.path.c_str(), file.communicator->size,
               amount(sum.bytes_written, sum.calls_written, "written").c_str(),
               amount(sum.bytes_read, sum.calls_read, "read").c_str(), static_cast<double>(sum.nanoseconds) * 1e-9,
               sum.plan.c_str());
}

// The library plans none where each rank goes alone.
std::string last_plan(const OpenFile& file) {
  const std::string plan = tw_file_last_plan(file.file);
  if (!plan.empty()) return plan;
  return file.had_collective ? "each rank moves its own bytes" : "none";
}

}  // namespace

bool is_report_wanted() { return wish() != nullptr; }

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
  if (tw_group_allreduce(file.group, sums, 4, TW_SUM) != TW_OK ||
      tw_group_allreduce(file.group, &longest, 1, TW_MAX) != TW_OK || file.communicator->rank != 0)
    return;
  const Sum sum{sums[0], sums[1], sums[2], sums[3], longest, last_plan(file)};
  if (wish() == nullptr || std::strcmp(wish(), "1") == 0)
    print_line(file, sum);
  else
    add_record(wish(), file, sum);
}

}  // namespace thalweg::mpiio
