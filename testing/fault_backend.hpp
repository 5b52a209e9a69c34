// A backend that wraps another one and goes wrong on purpose, by a script: for tests.
//
// Calls that reach storage are counted from 1. A script can make calls fail, let the storage fill up, and let the
// process or the machine die at any call. After a death every call does nothing and fails; what a new process would
// find is then in the wrapped backend.
//
// The death of the process keeps the effect of every call before it; the write it hits may be cut short at a border of
// pages. The death of the machine besides drops changes that were made since the last successful sync of a file: any
// sectors of 512 bytes or pages of 4096, in any combination, each to any of the states it had since; or all changes
// after one moment. The size may fall back. A file whose folder was not synced since it was made may be gone, one that
// was removed since may be back.
//
// Threads: any; calls are made one at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "storage/backend.hpp"

namespace thalweg {

enum class CallKind {
  open,
  write,
  read,
  size,
  truncate,
  preallocate,
  sync,
  next_data,
  close,
  remove,
  exists,
  sync_directory,
  describe
};

struct CallRecord {
  CallKind kind;
  std::string path;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  Code result = Code::ok;
};

// Calls that fail with an errno and have no effect but, of a partial write, that of its first half.
struct FaultRule {
  std::optional<CallKind> kind{};  // nothing: calls of every kind count
  std::uint64_t at = 1;            // the at-th of them, from 1
  bool lasting = false;            // and all of them from then on
  int os_errno = 5;                // EIO
  bool partial = false;
  std::string path_part{};  // only calls on paths that contain this
  bool short_read = false;  // a read does not fail: it ends after its first half, as at the end of a file
};

enum class Death { process, machine };
enum class Tear { nothing, half, pages };  // of the write that a death hits: no effect, first half, first pages by seed
struct DeathPoint {
  std::uint64_t at = 1;  // the at-th call of any kind, or of `kind`
  std::optional<CallKind> kind{};
  Death death = Death::process;
  Tear tear = Tear::nothing;
  std::uint64_t seed = 1;
};

struct FaultScript {
  std::vector<FaultRule> rules{};
  std::optional<DeathPoint> death{};
  std::optional<std::uint64_t> space_bytes{};       // no_space beyond so many bytes in blocks of 4096, counted from now
  bool record = false;                              // keep a CallRecord of every call
  std::optional<std::uint32_t> direct_alignment{};  // what files tell, instead of what the wrapped ones do
  bool keep_journal = false;  // needed for kill(Death::machine); a death of the machine in `death` implies it
};

class FaultJournal;
class SpaceLimit;

class FaultBackend final : public Backend {
 public:
  FaultBackend(std::shared_ptr<Backend> wrapped, FaultScript script);
  ~FaultBackend() override;

  using Backend::open;
  Result<std::unique_ptr<StoredFile>> open(const std::string& path, const OpenOptions& options) override;
  Status remove(const std::string& path) override;
  Result<bool> exists(const std::string& path) override;
  Status sync_directory_of(const std::string& path) override;
  Result<StorageInfo> describe(const std::string& path) override;
  std::uint32_t direct_alignment_at(const std::string& path) override;
  const char* name() const override { return "fault"; }

  // Starts over with another script: counts are zero, nobody is dead. Files opened before stay usable.
  void restart(FaultScript script);
  // Likewise, as another process does: changes that were not synced can still be lost.
  void go_on(FaultScript script);
  // Death now, between two calls.
  void kill(Death death, std::uint64_t seed);

  std::uint64_t calls() const;
  std::uint64_t calls(CallKind kind) const;
  std::uint64_t failures() const;  // of calls, by script or not
  bool dead() const;
  std::uint32_t direct_alignment_of(StoredFile& wrapped) const;
  std::vector<CallRecord> records() const;
  const std::shared_ptr<Backend>& wrapped() const { return wrapped_; }

 private:
  friend class FaultFile;
  struct Call {
    CallKind kind;
    const std::string& path;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
  };
  // What becomes of a call before it is made.
  struct Verdict {
    Status failure;            // OK: it is made
    std::uint64_t effect = 0;  // bytes of a failing write that take effect all the same
    bool short_read = false;
    bool dies = false;  // and then the process or machine is dead
  };

  // These expect mutex_ to be held.
  Verdict judge(const Call& call);
  Verdict judge_by_rules(const Call& call);
  bool death_is_due(const Call& call) const;
  std::uint64_t torn_bytes(const Call& call) const;
  Status finish_death(Death death, std::uint64_t seed);
  Status finish(const Call& call, const Verdict& verdict, Status status);

  Status open_wrapped(const std::string& path, const OpenOptions& options, std::unique_ptr<StoredFile>& file);

  Status perform(const Call& call, const std::function<Status()>& action);
  // `first(n)` writes the first n bytes, `first(n)` reads them and says how many there were.
  Status perform_write(const Call& call, StoredFile& file, const std::function<Status(std::uint64_t n)>& first);
  Result<std::uint64_t> perform_read(const Call& call,
                                     const std::function<Result<std::uint64_t>(std::uint64_t n)>& first);

  const std::shared_ptr<Backend> wrapped_;
  mutable std::mutex mutex_;  // guards everything below, and is held while a call is made
  FaultScript script_;
  std::uint64_t n_calls_ = 0;
  std::uint64_t n_failed_ = 0;
  std::map<CallKind, std::uint64_t> n_of_kind_;
  std::vector<std::uint64_t> n_of_rule_;  // calls that each rule has counted
  bool dead_ = false;
  std::vector<CallRecord> records_;
  std::unique_ptr<FaultJournal> journal_;  // null: not kept
  std::unique_ptr<SpaceLimit> space_;      // null: no limit
};

std::shared_ptr<FaultBackend> make_fault_backend(std::shared_ptr<Backend> wrapped, FaultScript script = {});

}  // namespace thalweg
