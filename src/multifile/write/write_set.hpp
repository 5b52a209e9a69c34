// The physical files of a multifile being written, shared by the tasks of one process, and what these tasks leave
// behind when they close.
//
// Threads: any number at once; what they do to different physical files happens at the same time.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "base/go_on.hpp"
#include "multifile/lazy_map.hpp"
#include "multifile/shared_sync.hpp"
#include "multifile/write/logical_writer.hpp"
#include "multifile/write/physical_writer.hpp"
#include "multifile/write_plan.hpp"

namespace thalweg {

// What one task hands over at close.
struct Deposit {
  TaskRank rank = 0;
  Status status;                                        // its first failure
  std::vector<std::unique_ptr<LogicalWriter>> writers;  // finished ones
  format::Attributes attributes;
  GoOn go_on;  // may be empty
};

class WriteSet {
 public:
  // `tasks` of this process and `processes` in all take part.
  WriteSet(std::shared_ptr<Backend> backend, std::string path, std::int64_t tasks, std::int64_t processes)
      : backend_(std::move(backend)), path_(std::move(path)), tasks_(tasks), processes_(processes) {}

  const std::string& path() const { return path_; }
  Status stopped() const;  // what a close says that its caller does not want to go on
  // The lock of task 0's process, taken over; or a lock that says that this process writes, too.
  Status hold(std::unique_ptr<StoredFile> session);
  // The physical file of that share, opened by the first who asks.
  Result<std::shared_ptr<PhysicalWriter>> writer(const DomainShare& share, const format::FileHeader& common);
  // Writes the open packs of all physical files of this process.
  Status flush_packs();
  // Makes durable what all physical files of this process hold, and that they can be found.
  Status sync();
  // Sync of the data alone.
  Status sync_data();
  // The file system may tell of failed writes only now. Nothing can be written or synced afterwards.
  Status close_files();
  // This process writes no more.
  void give_up_lock();
  // The close is to make everything durable before the multifile says that it is closed; so it does after any sync, as
  // what was synced must not be hidden by an index or by pieces that did not get to the storage.
  void close_durably() { close_durably_.store(true, std::memory_order_relaxed); }

  // The last task of the process to hand over gets the bytes that the process contributes to the close, the others
  // nothing. Never fails: failures are among the bytes.
  Bytes deposit(Deposit mine);

 private:
  Bytes contribution();  // mutex_ held
  Result<Bytes> ship_or_flush(PhysicalWriter& writer) const;
  Status sync_name();

  struct File {
    std::shared_ptr<PhysicalWriter> writer;
    SharedSync sync;
  };
  Result<std::unique_ptr<File>> open_file(const DomainShare& share, const format::FileHeader& common);
  template <class Step>
  Status for_each_file(Step&& step);

  const std::shared_ptr<Backend> backend_;
  const std::string path_;
  const std::int64_t tasks_;
  const std::int64_t processes_;
  LazyMap<File> files_;  // by physical file
  std::atomic<std::uint32_t> next_turn_ = 0;
  std::mutex mutex_;
  std::vector<Deposit> deposits_;  // guarded by mutex_
  std::atomic<bool> close_durably_ = false;
  std::mutex lock_mutex_;
  std::unique_ptr<StoredFile> lock_;  // guarded by lock_mutex_
  std::mutex name_mutex_;
  bool name_synced_ = false;  // guarded by name_mutex_
};

using ByteSpan = std::span<std::byte>;

// What the root makes of the bytes of one process; borrows them.
struct PhysicalContribution {
  std::uint32_t physical = 0;
  std::uint64_t high_water = 0;
  ByteSpan logical;  // for Contributions::add, once place_shipped() has told where the shipped pieces lie
  ByteView shipped;  // for PhysicalWriter::adopt; mostly empty
};
struct ProcessContribution {
  Status status;
  bool durable = false;  // so the close is to be
  std::vector<PhysicalContribution> files;
  std::vector<std::pair<TaskRank, format::Attributes>> attributes;
};
ProcessContribution decode_contribution(ByteSpan bytes);

}  // namespace thalweg
