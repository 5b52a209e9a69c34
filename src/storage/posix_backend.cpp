// Files of the file system. A failed sync is remembered: the kernel drops the pages that it could not write and would
// report success the next time, so every later sync of that file fails as the first did.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "os/file_ops.hpp"
#include "os/filesystem_info.hpp"
#include "os/pieces.hpp"
#include "os/process_era.hpp"
#include "os/wait.hpp"
#include "storage/backend.hpp"
#include "storage/kept_check.hpp"

namespace thalweg {

namespace {

// Storage information, corrected by the kept result of `thalweg check`.
Result<StorageInfo> with_check(Result<StorageInfo> found) {
  if (found.has_value()) use_check(find_check(found.value().identity), found.value());
  return found;
}

class PosixFile final : public StoredFile {
 public:
  PosixFile(std::string path, const OpenOptions& options) : path_(std::move(path)), options_(options) {}
  ~PosixFile() override {
    if (file_.is_open()) (void)close_file_of_lock().ok();
  }
  // On a mount that is not coherent a name may lead to a file that another node has removed, for a second (FUSE): tries
  // for 1.4 seconds.
  Status open() {
    constexpr int kTries = 15;
    for (int i = 1;; ++i) {
      const Status opened = open_by_name();
      // Also where it leads a creation: the name is forgotten by now, unless the folder is missing.
      const bool is_stale =
          opened.ok() ? !is_coherent_ && was_removed(file_, path_)
                      : opened.os_errno() == ESTALE ||
                            (opened.code() == Code::not_found &&
                             (is_cached_name(path_) || (options_.create && is_cached_name(folder_of(path_)))));
      if (!is_stale || (i == kTries && !opened.ok())) return opened;
      if (opened.ok()) (void)close_file_of_lock().ok();  // nothing was written
      if (i == kTries)
        return Status::error(Code::unsafe,
                             "cannot open '{}': another node has removed or replaced it, and the mount of this node "
                             "still leads to the removed file; open it again later",
                             path_);
      sleep_for(std::chrono::milliseconds(100));
    }
  }
  Status forget_cached() override {
    TW_RETURN_IF_ERROR(check("drop the cached pages of"));
    if (is_coherent_) return {};
    if (has_daemon_) {
      expire_daemon_cache(file_, options_.write);
      TW_RETURN_IF_ERROR(sync());
    }
    return thalweg::forget_cached(file_, path_);
  }

  Result<std::uint64_t> transfer(Direction direction, std::uint64_t offset, std::span<const Piece> pieces) override {
    TW_RETURN_IF_ERROR(check_direction(direction));
    return transfer_at(file_, {path_, direction, offset}, pieces);
  }
  Result<std::uint64_t> transfer_direct(Direction direction, std::uint64_t offset,
                                        std::span<const Piece> pieces) override {
    TW_RETURN_IF_ERROR(check_direction(direction));
    TW_RETURN_IF_ERROR(check_direct(pieces, offset, direct_alignment(), path_));
    return transfer_at(direct_, {path_, direction, offset, direct_alignment()}, pieces);
  }
  std::uint32_t direct_alignment() override {
    std::call_once(direct_once_, [this] { try_direct(); });
    return direct_alignment_;
  }
  int descriptor(bool direct) override {
    if (!file_.is_open() || (direct && direct_alignment() == 0)) return -1;
    return direct ? direct_.get() : file_.get();
  }
  // The kernel keeps the state of its read-ahead by opening of a file.
  Result<std::size_t> read_aside(std::uint64_t offset, std::span<std::byte> data) override {
    TW_RETURN_IF_ERROR(check_direction(Direction::read));
    std::call_once(aside_once_, [this] {
      auto opened = open_again(file_, options_, false);
      if (opened.has_value()) aside_ = std::move(opened).value();
    });
    const Piece piece{data.data(), data.size()};
    return transfer_at(aside_.is_open() ? aside_ : file_, {path_, Direction::read, offset}, {&piece, 1});
  }
  Result<std::uint64_t> size() override {
    TW_RETURN_IF_ERROR(check("tell the size of"));
    return file_size(file_, path_);
  }
  Status truncate(std::uint64_t bytes) override {
    TW_RETURN_IF_ERROR(check_writable("truncate"));
    return truncate_file(file_, path_, bytes);
  }
  Status preallocate(std::uint64_t offset, std::uint64_t bytes) override {
    TW_RETURN_IF_ERROR(check_writable("reserve storage for"));
    return preallocate_file(file_, path_, offset, bytes);
  }
  Status release(std::uint64_t offset, std::uint64_t bytes) override {
    TW_RETURN_IF_ERROR(check_writable("release storage of"));
    return release_storage(file_, path_, offset, bytes);
  }
  Status sync() override {
    TW_RETURN_IF_ERROR(check("sync"));
    {
      const std::lock_guard lock(mutex_);
      if (!failed_sync_.ok()) return failed_sync_;
    }
    const Status status = sync_file(file_, path_);
    const std::lock_guard lock(mutex_);
    if (failed_sync_.ok()) failed_sync_ = status;
    return failed_sync_;
  }
  Result<std::uint64_t> next_data(std::uint64_t offset) override {
    TW_RETURN_IF_ERROR(check("look for data in"));
    return next_data_at(file_, path_, offset);
  }
  Status lock_session() override {
    TW_RETURN_IF_ERROR(check_lockable());
    const LockAnswer session = lock_file(file_, FileLock::session);
    if (session == LockAnswer::refused)
      return Status::error(Code::unsafe, "'{}' is being written by another program, or by this one", path_);
    locks_reach_all_ = locks_reach_all_ && session == LockAnswer::granted;
    if (lock_file(file_, FileLock::writers) == LockAnswer::refused)
      return Status::error(
          Code::unsafe,
          "'{}' is being written: task 0 of that program is gone, but not all of its processes; end them first", path_);
    // The lock excludes new sessions, so that joining writers need no message from this process.
    (void)share_lock(file_, FileLock::writers);
    return {};
  }
  Status join_writers() override {
    TW_RETURN_IF_ERROR(check_lockable());
    const LockAnswer answer = share_lock(file_, FileLock::writers);
    locks_reach_all_ = locks_reach_all_ && answer != LockAnswer::absent;
    if (answer != LockAnswer::refused) return {};
    return Status::error(Code::unsafe, "'{}' is being repaired or opened anew by another program", path_);
  }
  bool locks_reach_all() const override { return locks_reach_all_; }
  Result<std::string> look() override { return look_at(file_, path_); }
  Result<bool> has_its_name() override {
    TW_RETURN_IF_ERROR(check("look at"));
    return is_named(file_, path_);
  }
  Status close() override {
    TW_RETURN_IF_ERROR(check("close"));
    const Status direct = direct_.is_open() ? close_one(std::move(direct_)) : Status{};
    return close_file_of_lock().or_else(direct);
  }
  const std::string& path() const override { return path_; }

 private:
  Status check(const char* verb, bool allowed = true, const char* otherwise = "") const {
    if (file_.is_open() && allowed) return {};
    return Status::error(Code::wrong_mode, "cannot {} '{}': {}", verb, path_,
                         file_.is_open() ? otherwise : "it was closed");
  }
  Status check_writable(const char* verb) const { return check(verb, options_.write, "it is open for reading"); }
  Status check_direction(Direction direction) const {
    return direction == Direction::write ? check_writable("write to")
                                         : check("read", options_.read, "it is open for writing only");
  }
  Status check_lockable() const { return check("lock", options_.takes_lock, "it was not opened for that"); }
  Status open_by_name() {
    std::optional<NoFork> opening;  // a child that inherited the descriptor would keep the lock
    if (options_.takes_lock) opening.emplace();
    TW_ASSIGN_OR_RETURN(file_, open_file(path_, options_));
    if (opening.has_value()) opening->close_in_children(file_.get());
    opening.reset();
    const StorageInfo caching = caching_of(file_.get());
    is_coherent_ = caching.is_coherent;
    has_daemon_ = caching.kind == "fuse.glusterfs";
    if (caching.is_network) {
      const auto storage = with_check(filesystem_info_of(file_.get(), path_));
      is_coherent_ = storage.has_value() && storage.value().is_coherent;
      locks_reach_all_ = storage.has_value() && storage.value().locks_reach_all;
      if (storage.has_value()) tried_alignment_ = find_check(storage.value().identity).direct_alignment;
    }
    if (has_daemon_)
      failed_sync_ = sync_file(file_, path_);  // only then the daemon opens the file, or finds it removed
    return {};
  }
  // Another node may have removed a file that this one reads.
  Status close_one(FileDescriptor file) {
    Status closed = close_file(std::move(file), path_);
    return !options_.write && closed.os_errno() == ENOENT ? Status{} : closed;
  }
  // A process being spawned has the descriptor until its program begins, and must not hold the locks.
  Status close_file_of_lock() {
    if (!options_.takes_lock) return close_one(std::move(file_));
    NoFork closing;
    unlock_file(file_);
    closing.forget(file_.get());
    return close_one(std::move(file_));
  }
  // Once, on first use. Where it fails the alignment stays 0.
  void try_direct() {
    if (!file_.is_open()) return;
    auto opened = open_again(file_, options_, true);
    if (!opened.has_value()) return;
    direct_ = std::move(opened).value();
    direct_alignment_ = direct_io_alignment_of(direct_);
    if (direct_alignment_ == 0) direct_alignment_ = tried_alignment_;
    if (direct_alignment_ == 0) direct_alignment_ = direct_io_alignment_at(folder_of(path_));
    if (direct_alignment_ == 0) direct_ = {};
  }

  const std::string path_;
  const OpenOptions options_;
  FileDescriptor file_;
  bool is_coherent_ = true, has_daemon_ = false, locks_reach_all_ = true;  // set by open()
  std::uint32_t tried_alignment_ = 0;                                      // likewise; of `thalweg check`, 0: none
  FileDescriptor direct_;                                                  // bypasses the page cache
  FileDescriptor aside_;                                                   // for read_aside()
  std::once_flag direct_once_, aside_once_;
  std::uint32_t direct_alignment_ = 0;  // set once, by try_direct()
  std::mutex mutex_;
  Status failed_sync_;  // guarded by mutex_; ok until the first failure
};

// The fastest of a few writes, in nanoseconds: the first ones allocate, and others may be delayed by unrelated load.
// None: a write failed.
std::optional<double> quickest_write(const FileDescriptor& file, const std::string& folder, const Piece& piece) {
  using Clock = std::chrono::steady_clock;
  constexpr int kTries = 5;
  auto quickest = Clock::duration::max();
  for (int i = 0; i < kTries; ++i) {
    const auto begin = Clock::now();
    if (!transfer_at(file, {folder, Direction::write, 0}, {&piece, 1}).has_value()) return std::nullopt;
    quickest = std::min(quickest, Clock::now() - begin);
  }
  return std::chrono::duration<double, std::nano>(quickest).count();
}

std::optional<MeasuredWrites> measured_writes(const std::string& folder) {
  constexpr std::size_t kSmall = 4096, kLarge = std::size_t{1} << 18;
  const auto file = open_unnamed_file(folder);
  if (!file.has_value()) return std::nullopt;
  std::vector<std::byte> bytes(kLarge);
  const auto small = quickest_write(file.value(), folder, {bytes.data(), kSmall});
  const auto large = quickest_write(file.value(), folder, {bytes.data(), kLarge});
  if (!small.has_value() || !large.has_value()) return std::nullopt;
  return MeasuredWrites{*small, std::max(0.0, *large - *small) / (kLarge - kSmall)};
}

class PosixBackend final : public Backend {
 public:
  using Backend::open;
  Result<std::unique_ptr<StoredFile>> open(const std::string& path, const OpenOptions& options) override {
    TW_RETURN_IF_ERROR(check_options(path, options));
    auto file = std::make_unique<PosixFile>(path, options);
    TW_RETURN_IF_ERROR(file->open());
    return std::unique_ptr<StoredFile>(std::move(file));
  }
  Status remove(const std::string& path) override { return remove_file(path); }
  Result<bool> exists(const std::string& path) override { return file_exists(path); }
  Status sync_directory_of(const std::string& path) override { return sync_folder(folder_of(path)); }
  Result<StorageInfo> describe(const std::string& path) override { return with_check(filesystem_info(path)); }
  Result<StorageInfo> describe_open(StoredFile& file) override {
    const int descriptor = file.descriptor(false);
    return descriptor < 0 ? describe(file.path()) : with_check(filesystem_info_of(descriptor, file.path()));
  }
  std::uint32_t direct_alignment_at(const std::string& path) override {
    if (const std::uint32_t told = direct_io_alignment_at(path); told > 0) return told;
    const auto storage = filesystem_info(path);
    return storage.has_value() ? find_check(storage.value().identity).direct_alignment : 0;
  }
  std::optional<MeasuredWrites> measure_writes(const std::string& path) override {
    return measured_writes(folder_of(path));
  }
  const char* name() const override { return "posix"; }
};

}  // namespace

std::shared_ptr<Backend> posix_backend() {
  static const std::shared_ptr<Backend> backend = std::make_shared<PosixBackend>();
  return backend;
}

}  // namespace thalweg
