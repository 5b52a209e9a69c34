// What `thalweg tune` measures with: a file that goes away again, memory with known bytes, and plain reads and writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "common.hpp"

namespace tool {

constexpr int64_t kMiB = int64_t{1} << 20;

// A new file in a folder, removed when this goes out of scope. Throws Failure.
class ScratchFile {
 public:
  explicit ScratchFile(const std::string& folder);
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  ~ScratchFile();

  const std::string& path() const { return path_; }
  int fd() const { return fd_.get(); }
  void empty() const;
  void sync() const;
  void leave_cache() const;  // what is on the storage is read from there again

 private:
  std::string path_;
  Descriptor fd_;
};

// Page-aligned memory. Throws std::bad_alloc.
class Memory {
 public:
  explicit Memory(size_t bytes);
  std::byte* data() const { return memory_.get(); }
  size_t size() const { return bytes_; }
  void fill(uint64_t seed) const;  // bytes that differ from page to page and from seed to seed
  void clear() const;

 private:
  size_t bytes_;
  std::unique_ptr<std::byte, decltype(&std::free)> memory_;
};

// Which bytes of a file a transfer moves: those of `memory` over and over, in calls of `call_bytes`.
struct Stretch {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t call_bytes = kMiB;
};

void plain_write(const ScratchFile& file, const Memory& memory, const Stretch& stretch);
void plain_read(const ScratchFile& file, const Memory& memory, const Stretch& stretch);

// Throws Failure when the first `bytes` of the file are not those of `memory` over and over.
void check_bytes(const ScratchFile& file, const Memory& memory, int64_t bytes);
// Throws Failure when the two differ in their first `bytes`.
void check_bytes(const Memory& a, const Memory& b, size_t bytes);

// Throws Failure unless the file system of `folder` has that much room.
void check_room(const std::string& folder, int64_t bytes);

}  // namespace tool
