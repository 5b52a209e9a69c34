// Emulates slow storage for programs started with LD_PRELOAD=bench_delay.so. The page cache of one machine favours
// plans with many small operations, which are slow on a parallel file system or a network drive.
//
// Model: one server with a bandwidth shared by all processes, and a latency for each operation. An operation of n bytes
// occupies the server for n / bandwidth after the previous ones, and its caller continues one latency later; so the
// latencies of several ranks, threads or requests overlap, their bytes do not. Opening, closing, syncing, locking and
// truncation cost nothing. The bytes go to the real file, and the caller sleeps for the rest of the time: a core is
// free while its rank waits for storage.
//
// The state of the server is one word in a file in the delayed folder, mapped by all processes: the time when it is
// idle.
//
// Reads and writes are wrapped in all forms of the C library, including aio_read and aio_write: these are submitted at
// once and appear unfinished until the server is done. io_uring bypasses the C library, so it must be off
// (THALWEG_URING=0).
#include <aio.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <string>

#include "collective/delay.hpp"

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace {

// Shared by the processes; a new file is zeros, which means an idle server.
struct Server {
  std::atomic<std::int64_t> idle_at;  // ns of CLOCK_MONOTONIC
};

constexpr int kMostFiles = 1 << 16;
constexpr std::int64_t kNanos = 1'000'000'000;

std::array<std::atomic<bool>, kMostFiles> watched;
std::atomic<Server*> server{nullptr};
std::atomic<bool> switched_on{false};
bench::DelayedStorage storage;      // set before `server`
std::array<char, PATH_MAX> folder;  // with '/' at its end; set before `server`

// The function of the C library that the wrapper replaces.
template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

std::int64_t nanos_now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * kNanos + t.tv_nsec;
}

void sleep_until(std::int64_t moment) {
  thread_local bool exact = false;
  if (!exact) prctl(PR_SET_TIMERSLACK, 1UL);  // otherwise every sleep is 50 us too long
  exact = true;
  const timespec t{moment / kNanos, moment % kNanos};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, nullptr) == EINTR) {
  }
}

// Queues an operation. Returns the time at which its caller may continue.
std::int64_t occupy(std::size_t bytes) {
  Server& all = *server.load(std::memory_order_acquire);
  const auto work =
      static_cast<std::int64_t>(static_cast<double>(bytes) * 1e9 / static_cast<double>(storage.bytes_per_second));
  const std::int64_t now = nanos_now();
  std::int64_t idle = all.idle_at.load();
  std::int64_t end = 0;
  do {
    end = (idle > now ? idle : now) + work;
  } while (!all.idle_at.compare_exchange_weak(idle, end));
  return end + storage.latency_ns;
}

bool is_delayed(int fd) {
  return fd >= 0 && fd < kMostFiles && watched[static_cast<std::size_t>(fd)].load(std::memory_order_relaxed) &&
         switched_on.load(std::memory_order_relaxed);
}

template <class Call>
ssize_t served(int fd, std::size_t bytes, const Call& call) {
  if (!is_delayed(fd)) return call();
  const std::int64_t done = occupy(bytes);
  const ssize_t result = call();
  const int error = errno;
  sleep_until(done);
  errno = error;
  return result;
}

std::size_t bytes_of(const iovec* list, int n) {
  std::size_t bytes = 0;
  for (int i = 0; i < n; ++i) bytes += list[i].iov_len;
  return bytes;
}

// Records whether a new descriptor belongs to a delayed file; returns it.
int looked_at(int fd) {
  if (fd < 0 || fd >= kMostFiles || server.load(std::memory_order_acquire) == nullptr) return fd;
  const int error = errno;
  std::array<char, PATH_MAX> path{};
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  const ssize_t length = readlink(link.c_str(), path.data(), path.size() - 1);
  const bool inside = length > 0 && std::strncmp(path.data(), folder.data(), std::strlen(folder.data())) == 0;
  watched[static_cast<std::size_t>(fd)].store(inside, std::memory_order_relaxed);
  errno = error;
  return fd;
}

// Outstanding operations of aio_read and aio_write.
class Outstanding {
 public:
  void add(const aiocb* operation, std::int64_t done) {
    const std::lock_guard lock(mutex_);
    for (Entry& entry : entries_) {
      if (entry.operation != nullptr) continue;
      entry = {operation, done};
      return;
    }
  }
  // Time of its end; 0: unknown operation.
  std::int64_t end_of(const aiocb* operation) { return find(operation, false); }
  void forget(const aiocb* operation) { find(operation, true); }

 private:
  struct Entry {
    const aiocb* operation;
    std::int64_t done;
  };
  std::int64_t find(const aiocb* operation, bool forgets) {
    const std::lock_guard lock(mutex_);
    for (Entry& entry : entries_) {
      if (entry.operation != operation) continue;
      if (forgets) entry.operation = nullptr;
      return entry.done;
    }
    return 0;
  }
  std::mutex mutex_;
  std::array<Entry, 4096> entries_{};
} outstanding;

template <class Call>
int handed_over(aiocb* operation, const Call& call) {
  if (!is_delayed(operation->aio_fildes)) return call();
  const std::int64_t done = occupy(operation->aio_nbytes);
  const int result = call();
  if (result == 0) outstanding.add(operation, done);
  return result;
}

mode_t mode_behind(int flags, va_list arguments) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
}

}  // namespace

// ---- Switching it on and off ----------------------------------------------------------------------------------------

EXPORTED int tw_bench_delay_begin(const char* path, const bench::DelayedStorage* how) {
  const std::string inside = std::string(path) + "/", name = inside + "server";
  if (inside.size() >= folder.size()) {
    errno = ENAMETOOLONG;
    return -1;
  }
  const int fd = open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0 || ftruncate(fd, sizeof(Server)) != 0) return -1;
  void* shared = mmap(nullptr, sizeof(Server), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (shared == MAP_FAILED) return -1;
  std::memcpy(folder.data(), inside.c_str(), inside.size() + 1);
  storage = *how;
  server.store(static_cast<Server*>(shared), std::memory_order_release);
  return 0;
}

EXPORTED void tw_bench_delay_switch(int on) { switched_on.store(on != 0); }

// ---- Opening and closing --------------------------------------------------------------------------------------------

EXPORTED int open(const char* path, int flags, ...) {
  static auto* const real = next<int(const char*, int, ...)>("open");
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_behind(flags, arguments);
  va_end(arguments);
  return looked_at(real(path, flags, mode));
}
EXPORTED int openat(int where, const char* path, int flags, ...) {
  static auto* const real = next<int(int, const char*, int, ...)>("openat");
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_behind(flags, arguments);
  va_end(arguments);
  return looked_at(real(where, path, flags, mode));
}
EXPORTED int open64(const char*, int, ...) __attribute__((alias("open")));
EXPORTED int openat64(int, const char*, int, ...) __attribute__((alias("openat")));
// Calls with checked arguments become these (_FORTIFY_SOURCE).
EXPORTED int __open_2(const char* path, int flags) { return open(path, flags); }
EXPORTED int __open64_2(const char*, int) __attribute__((alias("__open_2")));
EXPORTED int creat(const char* path, mode_t mode) { return open(path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
EXPORTED int creat64(const char*, mode_t) __attribute__((alias("creat")));

EXPORTED int close(int fd) {
  static auto* const real = next<int(int)>("close");
  if (fd >= 0 && fd < kMostFiles) watched[static_cast<std::size_t>(fd)].store(false, std::memory_order_relaxed);
  return real(fd);
}

// ---- Reading and writing --------------------------------------------------------------------------------------------

EXPORTED ssize_t read(int fd, void* data, size_t n) {
  static auto* const real = next<ssize_t(int, void*, size_t)>("read");
  return served(fd, n, [&] { return real(fd, data, n); });
}
EXPORTED ssize_t write(int fd, const void* data, size_t n) {
  static auto* const real = next<ssize_t(int, const void*, size_t)>("write");
  return served(fd, n, [&] { return real(fd, data, n); });
}
EXPORTED ssize_t readv(int fd, const iovec* list, int n) {
  static auto* const real = next<ssize_t(int, const iovec*, int)>("readv");
  return served(fd, bytes_of(list, n), [&] { return real(fd, list, n); });
}
EXPORTED ssize_t writev(int fd, const iovec* list, int n) {
  static auto* const real = next<ssize_t(int, const iovec*, int)>("writev");
  return served(fd, bytes_of(list, n), [&] { return real(fd, list, n); });
}
EXPORTED ssize_t pread(int fd, void* data, size_t n, off_t at) {
  static auto* const real = next<ssize_t(int, void*, size_t, off_t)>("pread");
  return served(fd, n, [&] { return real(fd, data, n, at); });
}
EXPORTED ssize_t pwrite(int fd, const void* data, size_t n, off_t at) {
  static auto* const real = next<ssize_t(int, const void*, size_t, off_t)>("pwrite");
  return served(fd, n, [&] { return real(fd, data, n, at); });
}
EXPORTED ssize_t preadv(int fd, const iovec* list, int n, off_t at) {
  static auto* const real = next<ssize_t(int, const iovec*, int, off_t)>("preadv");
  return served(fd, bytes_of(list, n), [&] { return real(fd, list, n, at); });
}
EXPORTED ssize_t pwritev(int fd, const iovec* list, int n, off_t at) {
  static auto* const real = next<ssize_t(int, const iovec*, int, off_t)>("pwritev");
  return served(fd, bytes_of(list, n), [&] { return real(fd, list, n, at); });
}
EXPORTED ssize_t preadv2(int fd, const iovec* list, int n, off_t at, int flags) {
  static auto* const real = next<ssize_t(int, const iovec*, int, off_t, int)>("preadv2");
  return served(fd, bytes_of(list, n), [&] { return real(fd, list, n, at, flags); });
}
EXPORTED ssize_t pwritev2(int fd, const iovec* list, int n, off_t at, int flags) {
  static auto* const real = next<ssize_t(int, const iovec*, int, off_t, int)>("pwritev2");
  return served(fd, bytes_of(list, n), [&] { return real(fd, list, n, at, flags); });
}
EXPORTED ssize_t pread64(int, void*, size_t, off64_t) __attribute__((alias("pread")));
EXPORTED ssize_t pwrite64(int, const void*, size_t, off64_t) __attribute__((alias("pwrite")));
EXPORTED ssize_t preadv64(int, const iovec*, int, off64_t) __attribute__((alias("preadv")));
EXPORTED ssize_t pwritev64(int, const iovec*, int, off64_t) __attribute__((alias("pwritev")));
EXPORTED ssize_t preadv64v2(int, const iovec*, int, off64_t, int) __attribute__((alias("preadv2")));
EXPORTED ssize_t pwritev64v2(int, const iovec*, int, off64_t, int) __attribute__((alias("pwritev2")));
EXPORTED ssize_t __read_chk(int fd, void* data, size_t n, size_t) { return read(fd, data, n); }
EXPORTED ssize_t __pread_chk(int fd, void* data, size_t n, off_t at, size_t) { return pread(fd, data, n, at); }
EXPORTED ssize_t __pread64_chk(int, void*, size_t, off_t, size_t) __attribute__((alias("__pread_chk")));

// ---- Asynchronous I/O of POSIX --------------------------------------------------------------------------------------

EXPORTED int aio_read(aiocb* operation) noexcept {
  static auto* const real = next<int(aiocb*)>("aio_read");
  return handed_over(operation, [&] { return real(operation); });
}
EXPORTED int aio_write(aiocb* operation) noexcept {
  static auto* const real = next<int(aiocb*)>("aio_write");
  return handed_over(operation, [&] { return real(operation); });
}
EXPORTED int aio_error(const aiocb* operation) noexcept {
  static auto* const real = next<int(const aiocb*)>("aio_error");
  return outstanding.end_of(operation) > nanos_now() ? EINPROGRESS : real(operation);
}
EXPORTED ssize_t aio_return(aiocb* operation) noexcept {
  static auto* const real = next<ssize_t(aiocb*)>("aio_return");
  outstanding.forget(operation);
  return real(operation);
}
// Waits for one operation in the C library, then for the server; all known callers wait for every operation.
EXPORTED int aio_suspend(const aiocb* const list[], int n, const timespec* limit) {
  static auto* const real = next<int(const aiocb* const[], int, const timespec*)>("aio_suspend");
  const int result = real(list, n, limit);
  std::int64_t first = 0;
  for (int i = 0; i < n; ++i) {
    if (list[i] == nullptr) continue;
    const std::int64_t end = outstanding.end_of(list[i]);
    if (first == 0 || end < first) first = end;
  }
  if (first > 0) sleep_until(first);
  return result;
}
EXPORTED int aio_read64(aiocb64*) noexcept __attribute__((alias("aio_read")));
EXPORTED int aio_write64(aiocb64*) noexcept __attribute__((alias("aio_write")));
EXPORTED int aio_error64(const aiocb64*) noexcept __attribute__((alias("aio_error")));
EXPORTED ssize_t aio_return64(aiocb64*) noexcept __attribute__((alias("aio_return")));
EXPORTED int aio_suspend64(const aiocb64* const[], int, const timespec*) __attribute__((alias("aio_suspend")));
