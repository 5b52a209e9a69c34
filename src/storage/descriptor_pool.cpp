#include "storage/descriptor_pool.hpp"

#include <algorithm>
#include <cerrno>

namespace thalweg {

std::size_t DescriptorPool::open_now() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

// The rest of the program may have used up what the limit leaves to us.
Result<FileDescriptor> DescriptorPool::open(const std::string& path, const FileOpening& how) {
  {
    const std::lock_guard lock(mutex_);
    while (entries_.size() >= most_() && park_one()) {
    }
  }
  for (;;) {
    auto file = open_file(path, how);
    const int err = file.status().os_errno();
    if (file.has_value() || (err != EMFILE && err != ENFILE)) return file;
    const std::lock_guard lock(mutex_);
    if (!park_one()) return file;
  }
}

// Second chance: who was used since the last look goes to the end of the row.
bool DescriptorPool::park_one() {
  for (std::size_t looks = 2 * entries_.size(); looks > 0; --looks) {
    const auto first = entries_.begin();
    PooledDescriptor& candidate = **first;
    entries_.splice(entries_.end(), entries_, first);
    if (candidate.recent_.exchange(false, std::memory_order_relaxed) || !candidate.park()) continue;
    entries_.erase(candidate.entry_);
    return true;
  }
  return false;
}

PooledDescriptor::~PooledDescriptor() {
  if (!is_closed()) (void)close().ok();
}

// One that could not be opened a second time with these permissions is not parked either.
Status PooledDescriptor::open(FileCreation creation, std::uint32_t permissions, Parking parking) {
  TW_ASSIGN_OR_RETURN(FileDescriptor file, pool_.open(path_, {access_, creation, permissions, direct_}));
  const std::uint32_t needed = access_ == FileAccess::read ? 0400 : access_ == FileAccess::write ? 0200 : 0600;
  put(std::move(file), parking == Parking::never || (permissions & needed) != needed ? 1 : 0);
  return {};
}

Status PooledDescriptor::open_beside(PooledDescriptor& other, Parking parking) {
  TW_ASSIGN_OR_RETURN(const Use use, other.use());
  TW_ASSIGN_OR_RETURN(FileDescriptor file, pool_.open(link_to(use.file()), {.access = access_, .direct = direct_}));
  put(std::move(file), parking == Parking::never ? 1 : 0);
  return {};
}

void PooledDescriptor::put(FileDescriptor file, int uses) {
  const std::lock_guard lock(pool_.mutex_);
  entry_ = pool_.entries_.insert(pool_.entries_.end(), this);
  file_ = std::move(file);
  uses_.store(uses, std::memory_order_release);
}

bool PooledDescriptor::try_use() {
  int uses = uses_.load(std::memory_order_relaxed);
  while (uses >= 0)
    if (uses_.compare_exchange_weak(uses, uses + 1, std::memory_order_acquire, std::memory_order_relaxed)) return true;
  return false;
}

Result<PooledDescriptor::Use> PooledDescriptor::use_to(bool write) {
  if (!recent_.load(std::memory_order_relaxed)) recent_.store(true, std::memory_order_relaxed);
  if (try_use()) return Use(*this, write);
  const std::lock_guard lock(reopen_mutex_);
  TW_RETURN_IF_ERROR(reopen());
  return Use(*this, write);
}

// An error of the write-back stays with the inode, and a sync after reopening reports it, as long as the inode stays in
// memory. Where syncs are asked for that is not enough, and what was written is synced here.
bool PooledDescriptor::park() {
  if (uses_.load(std::memory_order_relaxed) != 0) return false;
  auto identity = file_identity(file_, path_);
  if (!identity.has_value() || identity->names == 0) return false;
  parked_as_ = *identity;
  parked_path_ = path_of(file_, path_);
  int idle = 0;
  if (!uses_.compare_exchange_strong(idle, kParked, std::memory_order_acquire, std::memory_order_relaxed)) return false;
  if (syncs_.load(std::memory_order_relaxed) && unsynced_.exchange(false, std::memory_order_relaxed))
    if (const Status synced = sync_file(file_, path_); lost_.ok()) lost_ = synced;
  if (const Status closed = close_file(std::move(file_), path_); lost_.ok()) lost_ = closed;
  return true;
}

Status PooledDescriptor::reopen() {
  FileIdentity wanted;
  std::string where;
  {
    const std::lock_guard lock(pool_.mutex_);  // the parking is over
    if (try_use()) return {};                  // another thread has reopened it
    wanted = parked_as_;
    where = parked_path_;
  }
  TW_ASSIGN_OR_RETURN(FileDescriptor file, pool_.open(where, {.access = access_, .direct = direct_}));
  TW_ASSIGN_OR_RETURN(const FileIdentity found, file_identity(file, path_));
  if (found.device != wanted.device || found.inode != wanted.inode)
    return Status::error(Code::io_error, "'" + path_ + "' was replaced by another file while it was in use");
  put(std::move(file), 1);
  return {};
}

Status PooledDescriptor::close() {
  const std::lock_guard lock(pool_.mutex_);
  const bool parked = uses_.exchange(kClosed, std::memory_order_acquire) == kParked;
  if (!parked) {
    pool_.entries_.erase(entry_);
    if (const Status closed = close_file(std::move(file_), path_); lost_.ok()) lost_ = closed;
  }
  return lost_;
}

Status PooledDescriptor::lost() const {
  const std::lock_guard lock(pool_.mutex_);
  return lost_;
}

DescriptorPool& process_descriptors() {
  static auto* const pool = new DescriptorPool([] { return std::max<std::size_t>(descriptor_limit() / 4 * 3, 1); });
  return *pool;  // never destroyed: a file may be closed while the process ends
}

}  // namespace thalweg
