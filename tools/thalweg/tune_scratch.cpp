#include "tune_scratch.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <new>
#include <system_error>

#include "progress.hpp"
#include "text.hpp"

namespace tool {
namespace {

constexpr size_t kPage = 4096;
constexpr int64_t kCheckedAtOnce = kMiB;

std::byte* page_aligned(size_t bytes) {
  void* memory = std::aligned_alloc(kPage, (bytes + kPage - 1) / kPage * kPage);
  if (memory == nullptr) throw std::bad_alloc();
  return static_cast<std::byte*>(memory);
}

// Calls `move(address, bytes, offset)`, like pread and pwrite, until the stretch is complete.
template <class Move>
void move_stretch(const char* action, const ScratchFile& file, const Memory& memory, const Stretch& stretch,
                  Move move) {
  const auto round = static_cast<int64_t>(memory.size());
  for (int64_t at = stretch.begin; at < stretch.end;) {
    const int64_t from = at % round;
    const int64_t bytes = std::min({stretch.call_bytes, stretch.end - at, round - from});
    const ssize_t moved = move(memory.data() + from, static_cast<size_t>(bytes), static_cast<off_t>(at));
    if (moved < 0 && errno == EINTR) continue;
    if (moved < 0) fail_with_errno(action, file.path());
    if (moved == 0) throw Failure(kInputOutput, fmt::format("'{}' ends early", file.path()));
    at += moved;
  }
}

}  // namespace

ScratchFile::ScratchFile(const std::string& folder) : path_(folder + "/.thalweg-tune-XXXXXX") {
  fd_ = Descriptor(mkostemp(path_.data(), O_CLOEXEC));
  if (fd_) return;
  const int number = errno;
  path_ = folder;
  errno = number;
  fail_with_errno("create a scratch file in", folder);
}

ScratchFile::~ScratchFile() { unlink(path_.c_str()); }

void ScratchFile::empty() const {
  if (ftruncate(fd(), 0) != 0) fail_with_errno("empty", path_);
}

void ScratchFile::sync() const {
  if (fdatasync(fd()) != 0) fail_with_errno("sync", path_);
}

void ScratchFile::leave_cache() const { posix_fadvise(fd(), 0, 0, POSIX_FADV_DONTNEED); }

Memory::Memory(size_t bytes) : bytes_(bytes), memory_(page_aligned(bytes), &std::free) {}

void Memory::fill(uint64_t seed) const {
  uint64_t word = seed * 0x9E3779B97F4A7C15u + 1;
  for (size_t at = 0; at + sizeof word <= bytes_; at += sizeof word) {
    word += 0x9E3779B97F4A7C15u;
    const uint64_t mixed = word ^ (word >> 29);
    std::memcpy(memory_.get() + at, &mixed, sizeof mixed);
  }
}

void Memory::clear() const { std::memset(memory_.get(), 0, bytes_); }

void plain_write(const ScratchFile& file, const Memory& memory, const Stretch& stretch) {
  move_stretch("write", file, memory, stretch, [&](const std::byte* data, size_t bytes, off_t offset) {
    return pwrite(file.fd(), data, bytes, offset);
  });
}

void plain_read(const ScratchFile& file, const Memory& memory, const Stretch& stretch) {
  move_stretch("read", file, memory, stretch,
               [&](std::byte* data, size_t bytes, off_t offset) { return pread(file.fd(), data, bytes, offset); });
}

void check_bytes(const ScratchFile& file, const Memory& memory, int64_t bytes) {
  const Memory read(static_cast<size_t>(kCheckedAtOnce));
  const auto round = static_cast<int64_t>(memory.size());
  for (int64_t at = 0; at < bytes;) {
    const int64_t now = std::min({kCheckedAtOnce, bytes - at, round - at % round});
    for (int64_t done = 0; done < now;) {
      const ssize_t got = pread(file.fd(), read.data() + done, static_cast<size_t>(now - done), at + done);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail_with_errno("read", file.path());
      if (got == 0) throw Failure(kInputOutput, fmt::format("'{}' is shorter than the written data", file.path()));
      done += got;
    }
    if (std::memcmp(read.data(), memory.data() + at % round, static_cast<size_t>(now)) != 0)
      throw Failure(
          kInputOutput,
          fmt::format("'{}' has wrong bytes in the MiB at {}: this file system, or this library, is defective",
                      file.path(), at));
    at += now;
  }
}

void check_bytes(const Memory& a, const Memory& b, size_t bytes) {
  if (std::memcmp(a.data(), b.data(), bytes) != 0)
    throw Failure(kInputOutput,
                  "a scratch file was read with wrong bytes: this file system, or this library, is defective");
}

ScratchFolder::ScratchFolder(const std::string& parent) {
  std::string name = parent + "/thalweg-tune-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) fail_with_errno("create a folder in", parent);
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
  if (error) say(fmt::format("'{}' could not be removed: {}", path_, error.message()));
}

void check_room(const std::string& folder, int64_t bytes) {
  struct statvfs system = {};
  if (statvfs(folder.c_str(), &system) != 0) fail_with_errno("look at folder", folder);
  const double room = static_cast<double>(system.f_bavail) * static_cast<double>(system.f_frsize);
  if (room >= static_cast<double>(bytes)) return;
  throw Failure(kInputOutput, fmt::format("'{}' has {} of free space, {} are needed; see --size", folder,
                                          short_size(static_cast<int64_t>(room)), short_size(bytes)));
}

}  // namespace tool
