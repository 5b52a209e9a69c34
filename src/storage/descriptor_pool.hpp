// More open files than the process may have descriptors: the ones not used lately are parked, which means closed until
// they are asked for again.
//
// Threads: any number at once. A use of a descriptor that is open costs two atomic operations and no lock. Files are
// opened and reopened at the same time, and parked one after the other.
#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <mutex>
#include <string>

#include "os/descriptors.hpp"
#include "os/file_ops.hpp"

namespace thalweg {

class PooledDescriptor;

class DescriptorPool {
 public:
  // `most` tells how many descriptors may be open, each time anew; a few more only while threads open at once, or while
  // all are in use.
  explicit DescriptorPool(std::function<std::size_t()> most) : most_(std::move(most)) {}
  std::size_t open_now() const;

 private:
  friend class PooledDescriptor;
  using Entries = std::list<PooledDescriptor*>;  // the front is looked at first when one is to be parked

  Result<FileDescriptor> open(const std::string& path, const FileOpening& how);
  bool park_one();  // mutex_ held

  const std::function<std::size_t()> most_;
  mutable std::mutex mutex_;
  Entries entries_;  // guarded by mutex_: the open ones
};

// The descriptor of one open file.
class PooledDescriptor {
 public:
  enum class Way { cached, direct };  // through the page cache, or past it
  PooledDescriptor(DescriptorPool& pool, std::string path, FileAccess access, Way way = Way::cached)
      : pool_(pool), path_(std::move(path)), access_(access), direct_(way == Way::direct) {}
  PooledDescriptor(const PooledDescriptor&) = delete;
  PooledDescriptor& operator=(const PooledDescriptor&) = delete;
  ~PooledDescriptor();

  enum class Parking { may, never };
  Status open(FileCreation creation, std::uint32_t permissions = 0666, Parking parking = Parking::may);  // once, first

  Status open_beside(PooledDescriptor& other, Parking parking);  // once, instead: the file that `other` has open

  // Holds the descriptor open while it lives. One to write: bytes are on their way that no sync covers, not even one
  // that began meanwhile.
  class Use {
   public:
    explicit Use(PooledDescriptor& of, bool writes) : of_(&of), writes_(writes) {
      if (writes_) of_->note_written();
    }
    Use(Use&& other) noexcept : of_(std::exchange(other.of_, nullptr)), writes_(other.writes_) {}
    Use& operator=(Use&&) = delete;
    ~Use() {
      if (of_ == nullptr) return;
      if (writes_) of_->note_written();
      of_->uses_.fetch_sub(1, std::memory_order_release);
    }
    const FileDescriptor& file() const { return of_->file_; }
    void for_ever() { of_ = nullptr; }  // it is never parked: what else hangs on the descriptor would be lost

   private:
    PooledDescriptor* of_;
    bool writes_;
  };
  // Reopens a parked one. Fails when the file cannot be opened again, or when another one has its name now.
  Result<Use> use() { return use_to(false); }
  Result<Use> use_to_write() { return use_to(true); }
  bool is_closed() const { return uses_.load(std::memory_order_acquire) == kClosed; }
  // The error of close(), or what a parking met. No use may be alive but those for ever.
  Status close();

  // A sync begins. From the first one on, parking syncs what was written since the last.
  void note_sync() {
    syncs_.store(true, std::memory_order_relaxed);
    unsynced_.store(false, std::memory_order_relaxed);
  }
  // What the file system could not store, if a parking learned of it; every later sync is to fail so.
  Status lost() const;

 private:
  friend class DescriptorPool;
  static constexpr int kParked = -1;
  static constexpr int kClosed = -2;

  Result<Use> use_to(bool write);
  void note_written() {
    if (!unsynced_.load(std::memory_order_relaxed)) unsynced_.store(true, std::memory_order_relaxed);
  }
  bool try_use();
  bool park();  // pool_.mutex_ held; false: it is in use, or could not be found again
  void put(FileDescriptor file, int uses);
  Status reopen();

  DescriptorPool& pool_;
  const std::string path_;
  const FileAccess access_;
  const bool direct_;
  std::atomic<int> uses_ = kClosed;   // now, or one of the two above
  std::atomic<bool> recent_ = false;  // used since it was looked at last
  std::atomic<bool> unsynced_ = false;
  std::atomic<bool> syncs_ = false;
  FileDescriptor file_;                      // constant while uses_ >= 0
  std::mutex reopen_mutex_;                  // taken before pool_.mutex_
  DescriptorPool::Entries::iterator entry_;  // guarded by pool_.mutex_; while open
  FileIdentity parked_as_;                   // guarded by pool_.mutex_; while parked
  std::string parked_path_;                  // guarded by pool_.mutex_; while parked
  Status lost_;                              // guarded by pool_.mutex_
};

// For all files of the process: leaves a quarter of the descriptors that it may have to the rest of the program.
DescriptorPool& process_descriptors();

}  // namespace thalweg
