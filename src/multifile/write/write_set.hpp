// The physical files of a multifile being written, shared by the tasks of one process, and what these tasks contribute
// to the close.
//
// Threads: any number at once. Operations on different physical files run at the same time.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "base/watch.hpp"
#include "multifile/lazy_map.hpp"
#include "multifile/write/logical_writer.hpp"
#include "multifile/write/physical_writer.hpp"
#include "multifile/write_plan.hpp"

namespace thalweg {

// Contribution of one task, handed over at its close.
struct Deposit {
  TaskRank rank = 0;
  Status status;                                        // its first failure
  std::vector<std::unique_ptr<LogicalWriter>> writers;  // finished ones
  std::vector<StoredContributions> stored;              // of others, in the physical file `home`
  std::uint32_t home = 0;
  format::Attributes attributes;
  GoOn go_on;  // may be empty
};

class WriteSet {
 public:
  // `tasks` of this process and `processes` in all write. `in_tier`: each node has physical files of its own, which all
  // its processes make.
  WriteSet(std::shared_ptr<Backend> backend, std::string path, std::int64_t tasks, std::int64_t processes,
           bool in_tier = false)
      : backend_(std::move(backend)), path_(std::move(path)), tasks_(tasks), processes_(processes), in_tier_(in_tier) {}

  const std::string& path() const { return path_; }
  Status stopped() const;  // the status of a close that its caller stopped
  // Takes over the lock of task 0's process; null: locks physical file 0 as a further writing process.
  Status hold(std::unique_ptr<StoredFile> lock_of_root);
  // The physical file of that share, opened on first use. It lives as long as the set.
  Result<PhysicalWriter*> writer(const DomainShare& share, const WriteCommon& common);
  // Bytes that this process stores in the first physical file before it uses later ones.
  std::uint64_t first_bytes(const WriteCommon& common) const {
    return common.first_bytes * static_cast<std::uint64_t>(tasks_);
  }
  // Writes the open packs of all physical files of this process. `waits`: until they have arrived.
  Status flush_packs(bool waits = true);
  Status await_packs();  // those that are on their way
  // Makes the data of all physical files of this process durable, and the names by which they are found.
  Status sync();
  // Makes the data durable.
  Status sync_data();
  // Closes the descriptors, which may report earlier failed writes. Nothing can be written or synced afterwards.
  Status close_files();
  // Releases the lock: this process writes no more.
  void give_up_lock();
  // Requires that the close makes everything durable before it marks the multifile as closed. After any sync it must:
  // an index that reached the storage without its pieces would hide what was synced.
  void close_durably() { close_durably_.store(true, std::memory_order_relaxed); }

  // Returns the contribution of the process to the last of its tasks, and no bytes to the others. A failure is encoded
  // in the bytes.
  Bytes deposit(Deposit mine);

 private:
  Bytes contribution();                         // mutex_ held
  Status encode_contribution(WireWriter& out);  // mutex_ held
  Result<Bytes> ship_or_flush(PhysicalWriter& writer) const;
  Status sync_name();

  Result<std::unique_ptr<StoredFile>> open_later(const format::FileHeader& header, StripeRequest stripes);
  Result<std::unique_ptr<PhysicalWriter>> open_file(const DomainShare& share, const WriteCommon& common);
  template <class Step>
  Status for_each_file(Step&& step);

  const std::shared_ptr<Backend> backend_;
  const std::string path_;
  const std::int64_t tasks_;
  const std::int64_t processes_;
  const bool in_tier_;
  LazyMap<PhysicalWriter> files_;  // by physical file
  std::atomic<std::uint32_t> next_turn_ = 0;
  std::mutex mutex_;
  std::vector<Deposit> deposits_;  // guarded by mutex_
  std::atomic<bool> close_durably_ = false;
  std::mutex lock_mutex_;
  std::unique_ptr<StoredFile> lock_;  // guarded by lock_mutex_
  std::mutex name_mutex_;
  bool name_synced_ = false;  // guarded by name_mutex_
};

// Contribution of one process to one physical file; borrows the gathered bytes.
struct PhysicalContribution {
  std::uint64_t high_water = 0;
  ByteSpan logical;  // for Contributions::add, once place_shipped() has given the shipped pieces their offsets
  ByteView shipped;  // for PhysicalWriter::adopt; mostly empty
};
// Contributions of all processes.
struct CloseContributions {
  std::vector<std::vector<PhysicalContribution>> files;  // by physical file
  bool durable = false;                                  // WriteSet::close_durably was called in some process
  std::vector<std::pair<TaskRank, format::Attributes>> attributes;
  std::vector<std::uint64_t> later;  // the end of each later physical file, of all sessions
  std::map<std::uint32_t, std::vector<StoredContributions>> stored;  // by physical file
  std::vector<format::AddedRun> added;  // of earlier sessions; write_index() adds those of this one
};
// Adds the bytes of one process. Fails with the status that the process reports.
Status add_contribution(ByteSpan bytes, CloseContributions& all);

}  // namespace thalweg
