// What verify, repair and defrag share: telling the caller what is found and how far the work has come, and reading
// every logical file of a multifile.
#pragma once

#include <algorithm>
#include <unordered_set>

#include "multifile/check/check_multifile.hpp"
#include "multifile/read/read_handle.hpp"

namespace thalweg {

inline constexpr std::size_t kReadBytes = 1 << 20;

class Reporter {
 public:
  Reporter(const Watch& watch, CheckResult& result) : watch_(watch), result_(result) {}
  void finding(const std::string& text) {
    ++result_.findings;
    if (watch_.finding) watch_.finding(text);
  }
  bool shows_progress() const { return static_cast<bool>(watch_.progress); }
  // False once the caller has stopped the work, and ever after: nobody is asked again.
  bool progress(std::uint64_t done, std::uint64_t total) {
    done_ = done;
    total_ = total;
    if (!stopped_ && watch_.progress) stopped_ = !watch_.progress(done, total);
    return !stopped_;
  }
  // Asks again where nothing more is done.
  bool go_on() { return progress(done_, total_); }
  Watch for_recovery() {
    return {[this](const std::string& text) { finding(text); },
            [this](std::uint64_t done, std::uint64_t total) { return progress(done, total); },
            [this] { return go_on(); }};
  }

 private:
  const Watch& watch_;
  CheckResult& result_;
  std::uint64_t done_ = 0, total_ = 0;  // told last
  bool stopped_ = false;
};

// Visits the logical files by runs that are alike, and asks now and then whether to go on.
Status each_run(ReadHandle& handle, Reporter& report,
                const std::function<Status(std::uint64_t rank, const EntryRun& run)>& visit);

// How far the work on all logical files has come, in their bytes. What the index does not tell of counts nothing, and
// nobody counts where nobody asks.
class ReadProgress {
 public:
  ReadProgress(ReadHandle& handle, Reporter& report) : handle_(handle), report_(report) {}
  // Once, before the others.
  Status count() {
    if (!report_.shows_progress()) return {};
    return each_run(handle_, report_, [this](std::uint64_t rank, const EntryRun& run) {
      if (run.has_entry) total_ = plus(total_, bytes_of(rank));
      return Status{};
    });
  }
  // `within` bytes of the logical file at hand are done.
  Status at(std::uint64_t within) {
    if (report_.progress(std::min(plus(done_, within), total_), total_)) return {};
    return Status::error(Code::stopped, "'" + handle_.files().path() + "': stopped by the caller");
  }
  Status finished(std::uint64_t rank) {
    if (report_.shows_progress()) done_ = plus(done_, bytes_of(rank));
    return at(0);
  }

 private:
  static std::uint64_t plus(std::uint64_t a, std::uint64_t b) { return std::min(a + b, format::kMaxOffset); }
  std::uint64_t bytes_of(std::uint64_t rank) {
    const auto entry = handle_.entry(rank);
    return entry.has_value() ? entry.value().bytes : 0;
  }

  ReadHandle& handle_;
  Reporter& report_;
  std::uint64_t done_ = 0;   // of the logical files before
  std::uint64_t total_ = 0;  // of all; both at most 2^63-1
};

// A handle that serves every logical file. `watch`: of the recovery of what was not closed.
Result<ReadHandle> open_all(std::shared_ptr<Backend> backend, const std::string& path, ReadSet::Unclosed unclosed,
                            Watch watch = {});

// Refuses physical files in which a piece belongs to two logical files. Each is checked before the first of its logical
// files is read, so that none is opened that nobody reads.
class PieceRangesCheck {
 public:
  PieceRangesCheck(ReadHandle& handle, Reporter& report) : handle_(handle), report_(report) {}
  // Call before logical file `rank` is read. Other damage is reported by the reader.
  Status before(std::uint64_t rank);

 private:
  ReadHandle& handle_;
  Reporter& report_;
  std::unordered_set<std::uint32_t> checked_;  // numbers of physical files
};

}  // namespace thalweg
