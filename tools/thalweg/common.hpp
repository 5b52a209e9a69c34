// Shared by all commands: failures and exit codes, an open multifile that closes itself, interruption by signals.
#pragma once

#include <thalweg/multifile.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thalweg/base.hpp>
#include <thalweg/open.hpp>
#include <utility>
#include <vector>

namespace tool {

enum Exit : int { kFine = 0, kDamaged = 1, kUsage = 2, kInputOutput = 3, kUnsafe = 4 };

// The only conversion of a status to an exit code.
Exit exit_code(tw_status status);

struct Failure : std::runtime_error {
  Failure(Exit code, const std::string& message, tw_status s = TW_OK)
      : std::runtime_error(message), exit(code), status(s) {}
  Exit exit;
  tw_status status;  // of the library; TW_OK: the failure is not the library's
};

// The reader of standard output has gone: the command ends silently.
struct BrokenPipe {};

// A signal requested the end: main() cleans up by unwinding, reports the progress (progress.hpp), and then dies of that
// signal.
struct Interrupted {
  int signal;
};
void catch_signals();
int caught_signal();         // 0: none
void stop_if_interrupted();  // throws Interrupted

// While it lives, a signal ends the program where it is noticed, also in a callback of the library: `undo` removes
// temporary files, main()'s report follows, and no destructor runs, since millions of objects take too long.
class EndAtOnce {
 public:
  explicit EndAtOnce(std::function<void()> undo);
  EndAtOnce(const EndAtOnce&) = delete;
  EndAtOnce& operator=(const EndAtOnce&) = delete;
  ~EndAtOnce();
};
void set_interrupted_report(std::function<void(int signal)> report);

// Throws Interrupted when a signal stopped the library.
[[noreturn]] void fail_with_status(tw_status status);
inline void check(tw_status status) {
  if (status != TW_OK) fail_with_status(status);
}
// Fails with exit 3, naming the folder, when the folder of `path` does not exist.
void check_folder_of(const std::string& path);
// Call directly after the failing system call, as it reads errno. "cannot ACTION 'PATH': TEXT".
[[noreturn]] void fail_with_errno(const std::string& action, const std::string& path);

class Config : public thalweg::Options {
 public:
  Config();
  // "name=value"; throws Failure (usage) without '='.
  void set_hint(const std::string& assignment);
};

// Threads that use one file together.
class Team {
 public:
  explicit Team(int64_t threads) { thalweg::check(tw_team_create(threads, &team_)); }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  ~Team() { tw_team_free(&team_); }
  // Once for each rank, by its thread.
  thalweg::Group group(int64_t rank) const { return thalweg::Group::make(tw_group_team, team_, rank); }

 private:
  tw_team* team_ = nullptr;
};

constexpr const char* kStrategyKey = "thalweg.strategy";  // an attribute that the library sets

// A range of ranks, or of virtual processors, with equal properties, and why they are unreadable.
struct Alike {
  int64_t last;
  tw_status status = TW_OK;
  std::string message = {};

  bool lost() const { return status != TW_OK; }
  void note(tw_status found);  // throws unless it is_loss()
};

// Limits how many empty entries are listed one by one; further ones are listed in ranges.
class OneByOne {
 public:
  bool takes(int64_t n) {
    if (n > left_) return false;
    left_ -= n;
    return true;
  }

 private:
  int64_t left_ = 1000;
};

// An open multifile. The destructor closes without reporting errors: a writer calls close().
class Multifile {
 public:
  Multifile(const std::string& path, int mode, const tw_options* config = nullptr, tw_group* group = nullptr);
  Multifile(Multifile&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Multifile& operator=(Multifile&&) = delete;
  ~Multifile();

  void close();
  tw_multifile* get() const { return handle_; }
  tw_multifile_summary summarize() const;
  // The range from `rank` on without stored data, or unreadable. Otherwise only `rank`, whose entry may still be
  // damaged: then bytes() and name() fail.
  Alike alike(int64_t rank) const;
  int64_t bytes(int64_t rank) const;
  std::string name(int64_t rank, uint32_t* mode = nullptr) const;
  int64_t part(int64_t rank) const;     // -1: none
  std::string stored_strategy() const;  // strategy of the write; empty: not recorded

 private:
  tw_multifile* handle_ = nullptr;
};

// Opens for reading; an unclosed file is opened by a scan, and the second value is false.
std::pair<Multifile, bool> open_in_any_state(const std::string& path);

// Reports that the file is not closed, with the remedy, on standard error.
void report_not_closed(const std::string& path);

// Opens for reading; an unclosed file is refused unless `recover`.
Multifile open_for_reading(const std::string& path, bool recover);

// Whether a failure concerns a part of the file's content, so that the rest may be readable.
bool is_loss(tw_status status);

// a + b * times for nonnegative numbers claimed by a file, at most INT64_MAX.
int64_t sum_of(int64_t a, int64_t b, int64_t times = 1);

// Fails with exit 2 unless 0 <= rank < n.
void check_rank(int64_t rank, int64_t n_logical, const std::string& path);

using Range = std::pair<int64_t, int64_t>;  // first and last
// Calls use() for the ranks of the logical files that `names` choose, in ascending order: each of them is a name, a name
// and a part as in NAME.PART, a directory of names, or a pattern of a shell, in which '*' and '?' match '/' too. A name
// is the logical file that finding gives, the last one of that name; all names are read only for the other kinds. Fails
// with exit 2 where one chooses nothing. Clears `whole`, and says why, where names that cannot be read may be among them.
void for_chosen(const Multifile& multifile, const std::string& path, const std::vector<std::string>& names, bool& whole,
                const std::function<void(int64_t rank)>& use);

// A file descriptor with automatic close.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor();
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_;
};

// Writes all data; false with errno on failure, and after a signal.
bool write_all(int fd, const char* data, size_t bytes);
size_t write_some(int fd, const char* data, size_t bytes);  // returns the number of bytes written

}  // namespace tool
