// A progress bar on a terminal, without output in a pipe; and messages that do not break the bar.
//
// Implemented here because no maintained C++ library for it is packaged in Debian or Ubuntu, and it is one line of
// text.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>

namespace tool {

// A message to standard error: "thalweg: TEXT". From any thread.
void say(std::string_view text);

// Notes the progress of the current work, reported when a signal ends it. `label` names the work, `thing` the counted
// objects, in the plural; null: bytes. Both are borrowed for the life of the program.
void note_work(const char* label, int64_t done, int64_t total, const char* thing);
std::string work_text();  // "verify: 3 of 17 virtual processors done"; empty when none was noted

class Progress {
 public:
  // Shown when standard error is a terminal with cursor control, and not `quiet`. Counts `thing`, by default bytes.
  Progress(const char* label, bool quiet, const char* thing = nullptr);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  // Draws at most ten times a second. Throws Interrupted after a signal.
  void update(int64_t done, int64_t total);

  // From any thread: adds `n` to the amount that is done, at most INT64_MAX. Draws on the thread that made the bar.
  void add(int64_t n, int64_t total);

  // A tw_progress_fn; `user` is the Progress. Stops the work after a signal.
  static int callback(int64_t done, int64_t total, void* user);

 private:
  void show(int64_t done, int64_t total);
  void draw(int64_t done, int64_t total);
  std::string amount(int64_t done) const;

  const char* label_;
  const char* thing_;
  const std::thread::id owner_ = std::this_thread::get_id();
  std::atomic<int64_t> done_ = 0;
  bool shown_;
  std::chrono::steady_clock::time_point started_, drawn_;
};

}  // namespace tool
