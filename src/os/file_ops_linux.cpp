#include "os/file_ops.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

#include "base/size_units.hpp"
#include "os/wait.hpp"

namespace thalweg {

namespace {

static_assert(sizeof(off_t) == 8);

off_t as_off(std::uint64_t offset) { return static_cast<off_t>(offset); }

template <class Call>
auto retried(Call call) {
  auto result = call();
  while (result == -1 && errno == EINTR) result = call();
  return result;
}

std::string at_text(std::size_t bytes, std::uint64_t offset, const std::string& path) {
  return fmt::format("{} bytes at offset {} of '{}'", bytes, offset, path);
}

Status check_range(const char* verb, std::size_t bytes, std::uint64_t offset, const std::string& path) {
  if (offset <= kMostOffset && bytes <= kMostOffset - offset) return {};
  return Status::error(Code::out_of_range, "cannot {} {}: files end at 2^63-1", verb, at_text(bytes, offset, path));
}

Result<FileDescriptor> check_kind(FileDescriptor file, const std::string& path) {
  struct stat status = {};
  if (::fstat(file.get(), &status) != 0) return os_error(errno, "cannot look at '{}'", path);
  if (S_ISREG(status.st_mode) || S_ISBLK(status.st_mode)) return file;
  const char* kind = S_ISDIR(status.st_mode) ? "a directory" : S_ISFIFO(status.st_mode) ? "a pipe" : "a device";
  return Status::error(Code::io_error, "'{}' is {}, not a file", path, kind);
}

int open_flags(const OpenOptions& options) {
  // O_NONBLOCK: opening a pipe without a partner must not block; it has no effect on files.
  int flags = O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  flags |= !options.write ? O_RDONLY : options.read ? O_RDWR : O_WRONLY;
  if (options.create) flags |= O_CREAT | (options.exclusive ? O_EXCL : 0);
  if (options.truncate) flags |= O_TRUNC;
  return flags;
}

// Raises the soft limit of open files to the hard one (ulimit -n, -Hn); returns the limit in force.
rlim_t raise_descriptor_limit() {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  if (limit.rlim_cur == limit.rlim_max) return limit.rlim_max;
  const rlimit raised{limit.rlim_max, limit.rlim_max};
  return ::setrlimit(RLIMIT_NOFILE, &raised) == 0 ? limit.rlim_max : limit.rlim_cur;
}

Result<FileDescriptor> open_with(int flags, const std::string& path, std::uint32_t permissions) {
  const auto open = [&] { return ::open(path.c_str(), flags, static_cast<mode_t>(permissions)); };
  int fd = retried(open);
  rlim_t limit = 0;
  if (fd < 0 && errno == EMFILE) {
    limit = raise_descriptor_limit();
    fd = retried(open);
  }
  if (fd >= 0) return check_kind(FileDescriptor(fd), path);
  const int err = errno;
  std::string what = std::string((flags & O_CREAT) == 0 ? "cannot open '" : "cannot create '") + path + "' " +
                     ((flags & O_ACCMODE) == O_RDONLY ? "for reading" : "for writing");
  if (err == EMFILE)
    what += fmt::format(
        ": this process has reached its limit of {} open files; raise it (ulimit -Hn), or use fewer physical files or "
        "more processes",
        limit);
  return os_error(err, what);
}

}  // namespace

void close_descriptor(int fd) { (void)::close(fd); }

Result<FileDescriptor> open_file(const std::string& path, const OpenOptions& options) {
  OpenOptions rest = options;
  if (options.create && options.stripes.any() && make_striped_file(path, options.stripes, options.permissions))
    rest.create = false;
  return open_with(open_flags(rest), path, options.permissions);
}

Result<FileDescriptor> open_again(const FileDescriptor& file, OpenOptions options, bool direct) {
  options.create = options.truncate = false;
  const std::string link = fmt::format("/proc/self/fd/{}", file.get());
  return open_with(open_flags(options) | (direct ? O_DIRECT : 0), link, options.permissions);
}

Result<FileDescriptor> open_unnamed_file(const std::string& folder) {
  const int fd = retried([&] { return ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, S_IRUSR | S_IWUSR); });
  if (fd >= 0) return FileDescriptor(fd);
  return os_error(errno, "cannot make a file without a name in '{}'", folder);
}

Status close_file(FileDescriptor file, const std::string& path) {
  if (::close(file.release()) == 0) return {};
  const int err = errno;
  if (err == EINTR) return {};  // Linux has closed it; a second close could hit a file of another thread
  return os_error(err, "cannot close '{}'", path);
}

namespace {

// Network file systems ask their servers.
int ask(int folder_or_file, const char* path, struct statx& found) {
  const int flags = AT_STATX_FORCE_SYNC | (*path == 0 ? AT_EMPTY_PATH : 0);
  return retried([&] { return ::statx(folder_or_file, path, flags, STATX_SIZE | STATX_NLINK | STATX_MTIME, &found); });
}

// Whether no folder links to the file at `path`.
bool has_no_link(const struct statx& file, const std::string& path) {
  struct stat folder = {};
  return file.stx_nlink == 0 && ::stat(folder_of(path).c_str(), &folder) == 0 && folder.st_nlink > 0;
}

}  // namespace

Result<std::uint64_t> file_size(const FileDescriptor& file, const std::string& path) {
  struct statx found = {};
  if (ask(file.get(), "", found) == 0) return found.stx_size;
  return os_error(errno, "cannot tell the size of '{}'", path);
}

Result<std::string> look_at(const FileDescriptor& file, const std::string& path) {
  struct statx found = {};
  if (ask(file.get(), "", found) != 0) return os_error(errno, "cannot look at '{}'", path);
  return fmt::format("{} bytes, changed at {}.{:09}", found.stx_size, found.stx_mtime.tv_sec, found.stx_mtime.tv_nsec);
}

bool is_cached_name(const std::string& path) {
  struct stat found;
  return ::stat(path.c_str(), &found) == 0;
}

bool was_removed(const FileDescriptor& file, const std::string& path) {
  struct statx found = {};
  return ask(file.get(), "", found) != 0 || has_no_link(found, path);
}

Status truncate_file(const FileDescriptor& file, const std::string& path, std::uint64_t bytes) {
  TW_RETURN_IF_ERROR(check_range("truncate to", 0, bytes, path));
  if (retried([&] { return ::ftruncate(file.get(), as_off(bytes)); }) == 0) return {};
  return os_error(errno, "cannot set the size of '{}' to {} bytes", path, bytes);
}

namespace {

// fallocate(2), which some file systems lack.
Status allocate(const FileDescriptor& file, int mode, const char* verb, const std::string& path, std::uint64_t offset,
                std::uint64_t bytes) {
  TW_RETURN_IF_ERROR(check_range(verb, bytes, offset, path));
  if (bytes == 0) return {};
  if (retried([&] { return ::fallocate(file.get(), mode, as_off(offset), as_off(bytes)); }) == 0) return {};
  const int err = errno;
  if (err == EOPNOTSUPP || err == ENOSYS) return {};
  return os_error(err, "cannot {} {}", verb, at_text(bytes, offset, path));
}

}  // namespace

Status preallocate_file(const FileDescriptor& file, const std::string& path, std::uint64_t offset,
                        std::uint64_t bytes) {
  return allocate(file, 0, "reserve", path, offset, bytes);
}

Status release_storage(const FileDescriptor& file, const std::string& path, std::uint64_t offset, std::uint64_t bytes) {
  return allocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, "release", path, offset, bytes);
}

Status sync_file(const FileDescriptor& file, const std::string& path) {
  if (retried([&] { return transfer_calls().sync(file.get()); }) == 0) return {};
  return os_error(errno, "cannot bring '{}' to the storage", path);
}

Status forget_cached(const FileDescriptor& file, const std::string& path) {
  (void)::posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);  // writes what is dirty; what is being written stays
  return file_size(file, path).status();
}

void expire_daemon_cache(const FileDescriptor& file, bool may_write) {
  const auto reserve = [&] { return ::fallocate(file.get(), FALLOC_FL_KEEP_SIZE, 0, 1); };
  if (!may_write || retried(reserve) != 0) sleep_for(std::chrono::milliseconds(1100));
}

std::uint32_t cache_page_bytes() { return static_cast<std::uint32_t>(::sysconf(_SC_PAGESIZE)); }

namespace {

constexpr off_t kFirstLockByte = off_t{1} << 62;

struct flock lock_range(FileLock which, short type) {
  struct flock range = {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = kFirstLockByte + (which == FileLock::writers ? 1 : 0);
  range.l_len = 1;
  return range;
}

// Returns 0 or errno.
int set_lock(const FileDescriptor& file, FileLock which, short type) {
  struct flock range = lock_range(which, type);
  return retried([&] { return transfer_calls().lock(file.get(), F_OFD_SETLK, &range); }) == 0 ? 0 : errno;
}
LockAnswer answer_of(int err) {
  if (err == 0) return LockAnswer::granted;
  return err == EAGAIN || err == EACCES ? LockAnswer::refused : LockAnswer::absent;
}

// Whether another opening holds a lock of any kind.
bool is_locked(const FileDescriptor& file, FileLock which) {
  struct flock range = lock_range(which, F_WRLCK);
  return transfer_calls().lock(file.get(), F_OFD_GETLK, &range) == 0 && range.l_type != F_UNLCK;
}

}  // namespace

int call_lock(int fd, int command, struct ::flock* range) { return ::fcntl(fd, command, range); }

LockAnswer lock_file(const FileDescriptor& file, FileLock which) {
  const int err = set_lock(file, which, F_WRLCK);
  if (err != EBADF) return answer_of(err);
  return is_locked(file, which) ? LockAnswer::refused : share_lock(file, which);
}

LockAnswer share_lock(const FileDescriptor& file, FileLock which) { return answer_of(set_lock(file, which, F_RDLCK)); }

void unlock_file(const FileDescriptor& file) {
  for (const FileLock which : {FileLock::session, FileLock::writers}) (void)set_lock(file, which, F_UNLCK);
}

Result<bool> is_named(const FileDescriptor& file, const std::string& path) {
  struct stat open = {};
  struct stat named = {};
  int err = ::fstat(file.get(), &open) == 0 ? 0 : errno;
  if (err == 0 && ::stat(path.c_str(), &named) != 0) err = errno;
  if (err == 0) return open.st_dev == named.st_dev && open.st_ino == named.st_ino;
  if (err == ENOENT || err == ENOTDIR) return false;
  return os_error(err, "cannot look at '{}'", path);
}

Result<std::uint64_t> next_data_at(const FileDescriptor& file, const std::string& path, std::uint64_t offset) {
  TW_RETURN_IF_ERROR(check_range("look for data from", 0, offset, path));
  const off_t found = ::lseek(file.get(), as_off(offset), SEEK_DATA);
  if (found >= 0) return static_cast<std::uint64_t>(found);
  const int err = errno;
  if (err == ENXIO) return file_size(file, path);
  if (err == EINVAL || err == EOPNOTSUPP) return offset;  // the file system does not distinguish holes from data
  return os_error(err, "cannot look for data from offset {} of '{}'", offset, path);
}

std::string proc_text(const char* path) {
  std::string text;
  char part[4096];
  const FileDescriptor file(::open(path, O_RDONLY | O_CLOEXEC));
  for (ssize_t n; file.is_open() && (n = ::read(file.get(), part, sizeof part)) > 0;)
    text.append(part, static_cast<std::size_t>(n));
  return text;
}

Status remove_file(const std::string& path) {
  if (::unlink(path.c_str()) == 0) return {};
  return os_error(errno, "cannot remove '{}'", path);
}

Result<bool> file_exists(const std::string& path) {
  struct statx found = {};
  if (ask(AT_FDCWD, path.c_str(), found) == 0) return !has_no_link(found, path);
  const int err = errno;
  if (err == ENOENT || err == ENOTDIR || err == ESTALE) return false;
  return os_error(err, "cannot tell whether '{}' exists", path);
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Status sync_folder(const std::string& folder) {
  const FileDescriptor file(retried([&] { return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  int err = errno;
  if (!file.is_open()) return os_error(err, "cannot open folder '{}'", folder);
  if (retried([&] { return ::fsync(file.get()); }) == 0) return {};
  err = errno;
  if (err == EINVAL || err == EROFS) return {};  // the file system has no folders that can be synced
  return os_error(err, "cannot bring folder '{}' to the storage", folder);
}

}  // namespace thalweg
