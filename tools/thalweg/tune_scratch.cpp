#include "tune_scratch.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <new>
#include <system_error>

#include "progress.hpp"

namespace tool {
namespace {

constexpr int64_t kPage = 4096;

std::byte* page_aligned(int64_t bytes) {
  void* memory = std::aligned_alloc(kPage, static_cast<size_t>((bytes + kPage - 1) / kPage * kPage));
  if (memory == nullptr) throw std::bad_alloc();
  return static_cast<std::byte*>(memory);
}

}  // namespace

ScratchFolder::ScratchFolder(const std::string& parent) : path_(parent + "/thalweg-tune-XXXXXX") {
  if (mkdtemp(path_.data()) == nullptr) fail_with_errno("create a scratch folder in", parent);
}

ScratchFolder::~ScratchFolder() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
  if (error) say(fmt::format("'{}' could not be removed: {}", path_, error.message()));
}

ScratchFile::ScratchFile(const std::string& path)
    : path_(path), fd_(open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600)) {
  if (!fd_) fail_with_errno("create the scratch file", path);
}

void ScratchFile::empty() const {
  if (ftruncate(fd(), 0) != 0) fail_with_errno("empty", path_);
}

void ScratchFile::sync() const {
  if (fdatasync(fd()) != 0) fail_with_errno("sync", path_);
}

void ScratchFile::leave_cache() const { posix_fadvise(fd(), 0, 0, POSIX_FADV_DONTNEED); }

Memory::Memory(int64_t bytes) : bytes_(bytes), memory_(page_aligned(bytes), &std::free) {}

void Memory::fill(uint64_t seed) const {
  uint64_t word = seed * 0x9E3779B97F4A7C15u + 1;
  for (std::byte* at = data(); at + sizeof word <= data() + bytes_; at += sizeof word) {
    word += 0x9E3779B97F4A7C15u;
    const uint64_t mixed = word ^ (word >> 29);
    std::memcpy(at, &mixed, sizeof mixed);
  }
}

void Memory::clear() const { std::memset(data(), 0, static_cast<size_t>(bytes_)); }

void plain_move(bool writes, const ScratchFile& file, const Memory& memory, const Stretch& stretch) {
  for (int64_t at = stretch.begin; at < stretch.end;) {
    const int64_t from = at % memory.size();
    std::byte* const place = memory.data() + from;
    const auto bytes = static_cast<size_t>(std::min({stretch.call_bytes, stretch.end - at, memory.size() - from}));
    const ssize_t moved = writes ? pwrite(file.fd(), place, bytes, at) : pread(file.fd(), place, bytes, at);
    if (moved < 0 && errno == EINTR) continue;
    if (moved < 0) fail_with_errno(writes ? "write" : "read", file.path());
    if (moved == 0) throw Failure(kInputOutput, fmt::format("'{}' ends early", file.path()));
    at += moved;
  }
}

void check_bytes(const ScratchFile& file, const Memory& memory, int64_t bytes) {
  const Memory found(kMiB / 4);
  for (int64_t at = 0; at < bytes; at += found.size()) {
    plain_move(false, file, found, {at, at + found.size()});
    check_bytes(found.data(), memory.data() + at % memory.size(), found.size());
  }
}

void check_bytes(const std::byte* found, const std::byte* right, int64_t bytes) {
  if (std::memcmp(found, right, static_cast<size_t>(bytes)) != 0)
    throw Failure(kInputOutput,
                  "a scratch file was read with wrong bytes: this file system, or this library, is defective");
}

}  // namespace tool
