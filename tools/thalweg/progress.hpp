// A progress bar on a terminal; nothing in a pipe. And messages that do not tear the bar.
//
// Written here because no kept library for it is packaged for C++ in Debian or Ubuntu; it is one line of text.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace tool {

// A message to standard error: "thalweg: TEXT".
void say(std::string_view text);

// How far the work at hand has come: told when a signal ends it. `label` says what is done, `thing` what is counted, in
// the plural; null: bytes. Both are borrowed for good.
void note_work(const char* label, int64_t done, int64_t total, const char* thing);
std::string work_text();  // "verify: 3 of 17 virtual processors done"; empty when nothing was noted

class Progress {
 public:
  // Shown when standard error is a terminal that can move its cursor, and not `quiet`. Counts bytes; of `thing`, where
  // one is given.
  Progress(const char* label, bool quiet, const char* thing = nullptr);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  // Draws at most ten times a second. Throws Interrupted when a signal came.
  void update(int64_t done, int64_t total);

  // Of work that is no bytes: the share that is done, 0 to 1, and what is being done; tells the time that is left.
  void update_share(double share, const std::string& doing);

  // A tw_progress_fn; `user` is the Progress. Ends the work when a signal came.
  static int callback(int64_t done, int64_t total, void* user);

 private:
  void show(int64_t done, int64_t total);
  void draw(int64_t done, int64_t total);
  void draw_bar(double share, const std::string& numbers);
  bool is_time_to_draw();

  std::string amount(int64_t done) const;

  const char* label_;
  const char* thing_;
  bool shown_;
  std::chrono::steady_clock::time_point started_, drawn_;
};

}  // namespace tool
