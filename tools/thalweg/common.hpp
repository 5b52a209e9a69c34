// What all commands share: failures and exit codes, an open multifile that closes itself, interruption by a signal.
#pragma once

#include <thalweg/multifile.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tool {

enum Exit : int { kFine = 0, kDamaged = 1, kUsage = 2, kInputOutput = 3, kUnsafe = 4 };

// The one place where a status becomes an exit code.
Exit exit_code(tw_status status);

struct Failure : std::runtime_error {
  Failure(Exit code, const std::string& message, tw_status s = TW_OK)
      : std::runtime_error(message), exit(code), status(s) {}
  Exit exit;
  tw_status status;  // of the library, TW_OK when it was not the library that failed
};

// The reader of standard output went away: end quietly.
struct BrokenPipe {};

// A signal asked the program to end; main() cleans up by unwinding, tells how far the work came (progress.hpp), and
// then dies of that signal.
struct Interrupted {
  int signal;
};
void catch_signals();
void ignore_signals();       // while what must end is ended, after one was caught
int caught_signal();         // 0: none
void stop_if_interrupted();  // throws Interrupted

// Throws Interrupted where the library was stopped because of a signal.
[[noreturn]] void fail_with_status(tw_status status);
inline void check(tw_status status) {
  if (status != TW_OK) fail_with_status(status);
}
// Fails with exit 3, and names the folder, when there is none for `path` to be made in.
void check_folder_of(const std::string& path);
// Call at once after the failing system call: takes errno. "cannot ACTION 'PATH': TEXT".
[[noreturn]] void fail_with_errno(const std::string& action, const std::string& path);

class Config {
 public:
  Config();
  // "name=value"; throws Failure (usage) when there is no '='.
  void set_hint(const std::string& assignment);
  void set_hint(const char* name, const std::string& value);
  void serve(int64_t n_logical, int64_t first, int64_t count);
  const tw_multifile_config* get() const { return config_.get(); }

 private:
  std::unique_ptr<tw_multifile_config, void (*)(tw_multifile_config*)> config_;
};

constexpr const char* kStrategyKey = "thalweg.strategy";  // an attribute that the library sets

// What a file tells of a range of ranks, or of virtual processors: how far they are alike, and why they cannot be read.
struct Alike {
  int64_t last;
  tw_status status = TW_OK;
  std::string message = {};

  bool lost() const { return status != TW_OK; }
};

// Of what nothing is stored so many are told one by one, in all; the others row by row.
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

// An open multifile. The destructor closes without a report: a writer calls close().
class Multifile {
 public:
  Multifile(const std::string& path, int mode, const tw_multifile_config* config = nullptr);
  Multifile(Multifile&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Multifile& operator=(Multifile&&) = delete;
  ~Multifile();

  void close();
  tw_multifile* get() const { return handle_; }
  tw_multifile_summary summary() const;
  // Those from `rank` on of which nothing is stored, or that cannot be read. Else it is `rank` alone, whose entry may
  // yet be damaged: then bytes() and name() fail.
  Alike alike(int64_t rank) const;
  int64_t bytes(int64_t rank) const;
  std::string name(int64_t rank, uint32_t* mode = nullptr) const;
  std::string stored_strategy() const;  // how it was written; empty when the file does not tell

 private:
  tw_multifile* handle_ = nullptr;
};

// Opens for reading, also a file that was not closed: then by a scan, and the second value is false.
std::pair<Multifile, bool> open_in_any_state(const std::string& path, const tw_multifile_config* config = nullptr);

// Says so on standard error, with the way out.
void report_not_closed(const std::string& path);

// Opens for reading; a file that was not closed is refused unless `recover`.
Multifile open_for_reading(const std::string& path, bool recover, const tw_multifile_config* config = nullptr);

// Whether a failure is one of what the file holds, so that the rest of it may be whole.
bool is_loss(tw_status status);

// a + b * times, at most INT64_MAX; none is negative. Sums of numbers that a file claims.
int64_t sum_of(int64_t a, int64_t b, int64_t times = 1);

// Fails with exit 2 unless 0 <= rank < n.
void check_rank(int64_t rank, int64_t n_logical, const std::string& path);

// A file descriptor that closes itself.
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

// Writes all of it; false with errno on failure, and when a signal came.
bool write_all(int fd, const char* data, size_t bytes);
size_t write_some(int fd, const char* data, size_t bytes);  // the same; how many bytes were written

}  // namespace tool
