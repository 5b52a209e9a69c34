// Wraps a backend and injects faults by a script, for tests.
//
// Calls that reach storage are numbered from 1. A script can make calls fail, limit the space, and let the process or
// the machine die at any call. After a death every call fails without effect; the wrapped backend then holds what a new
// process would find.
//
// A death of the process keeps the effect of every earlier call; the write at the death may be torn at a page boundary.
// A death of the machine also drops changes made since the last successful sync of a file: any sectors of 512 bytes or
// pages of 4096 bytes, in any combination, each to any of its states since; or all changes after one moment. The size
// may fall back. A file created or removed since its folder was last synced may be absent or present.
//
// Threads: any; calls are serialised.
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
  release,
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

// Makes calls fail with an errno, without effect except the first half of a partial write.
struct FaultRule {
  std::optional<CallKind> kind{};  // no value: calls of every kind
  std::uint64_t at = 1;            // number of the failing call, from 1
  bool lasting = false;            // all later ones fail, too
  int os_errno = 5;                // EIO
  bool partial = false;
  std::string path_part{};  // only calls on paths that contain this
  bool short_read = false;  // instead of failing, a read ends after its first half, as at the end of a file
};

enum class Death { process, machine };
enum class Tear { nothing, half, pages };  // effect of the write at a death: none, first half, first pages by seed
struct DeathPoint {
  std::uint64_t at = 1;  // number of the call, of any kind or of `kind`
  std::optional<CallKind> kind{};
  Death death = Death::process;
  Tear tear = Tear::nothing;
  std::uint64_t seed = 1;
};

struct FaultScript {
  std::vector<FaultRule> rules{};
  std::optional<DeathPoint> death{};
  std::optional<std::uint64_t> space_bytes{};       // no_space beyond this many bytes in blocks of 4096, counted from
                                                    // now
  bool record = false;                              // keep a CallRecord of every call
  std::optional<std::uint32_t> direct_alignment{};  // alignment reported by files, in place of that of the wrapped ones
  bool keep_journal = false;  // required by kill(Death::machine); implied by a death of the machine in `death`
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

  // Restarts with another script: counts are zero and the death is undone. Open files stay usable.
  void restart(FaultScript script);
  // Continues with another script as a new process: unsynced changes can still be lost.
  void go_on(FaultScript script);
  // Dies now, between two calls.
  void kill(Death death, std::uint64_t seed);

  std::uint64_t calls() const;
  std::uint64_t calls(CallKind kind) const;
  std::uint64_t failures() const;  // number of failed calls, scripted or not
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
  // The decision on a call before it is made.
  struct Verdict {
    Status failure;            // OK: the call is made
    std::uint64_t effect = 0;  // bytes of a failing write that take effect
    bool short_read = false;
    bool dies = false;  // afterwards the process or machine is dead
  };

  // Require mutex_.
  Verdict judge(const Call& call);
  Verdict judge_by_rules(const Call& call);
  bool death_is_due(const Call& call) const;
  std::uint64_t torn_bytes(const Call& call) const;
  Status finish_death(Death death, std::uint64_t seed);
  Status finish(const Call& call, const Verdict& verdict, Status status);

  Status open_wrapped(const std::string& path, const OpenOptions& options, std::unique_ptr<StoredFile>& file);

  Status perform(const Call& call, const std::function<Status()>& action);
  // `first(n)` writes the first n bytes, or reads them and returns their number.
  Status perform_write(const Call& call, StoredFile& file, const std::function<Status(std::uint64_t n)>& first);
  Result<std::uint64_t> perform_read(const Call& call,
                                     const std::function<Result<std::uint64_t>(std::uint64_t n)>& first);

  const std::shared_ptr<Backend> wrapped_;
  mutable std::mutex mutex_;  // guards all members below; held during calls
  FaultScript script_;
  std::uint64_t n_calls_ = 0;
  std::uint64_t n_failed_ = 0;
  std::map<CallKind, std::uint64_t> n_of_kind_;
  std::vector<std::uint64_t> n_of_rule_;  // calls counted by each rule
  bool dead_ = false;
  std::vector<CallRecord> records_;
  std::unique_ptr<FaultJournal> journal_;  // null: not kept
  std::unique_ptr<SpaceLimit> space_;      // null: no limit
};

std::shared_ptr<FaultBackend> make_fault_backend(std::shared_ptr<Backend> wrapped, FaultScript script = {});

}  // namespace thalweg
