// Tools of `thalweg tune`: a scratch folder and its files, memory with known bytes, and simple reads and writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "common.hpp"

namespace tool {

constexpr int64_t kMiB = int64_t{1} << 20;

// A new folder in a folder of the user, removed with all its content. Throws Failure.
class ScratchFolder {
 public:
  explicit ScratchFolder(const std::string& parent);
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// A new file. Throws Failure.
class ScratchFile {
 public:
  explicit ScratchFile(const std::string& path);

  const std::string& path() const { return path_; }
  int fd() const { return fd_.get(); }
  void empty() const;
  void sync() const;
  void leave_cache() const;  // later reads come from storage

 private:
  std::string path_;
  Descriptor fd_;
};

// Page-aligned memory. Throws std::bad_alloc.
class Memory {
 public:
  explicit Memory(int64_t bytes);
  std::byte* data() const { return memory_.get(); }
  int64_t size() const { return bytes_; }
  void fill(uint64_t seed) const;  // bytes differ between pages and seeds
  void clear() const;

 private:
  int64_t bytes_;
  std::unique_ptr<std::byte, decltype(&std::free)> memory_;
};

// A range of a file that a transfer moves: `memory` repeatedly, in calls of `call_bytes`.
struct Stretch {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t call_bytes = kMiB;
};

void plain_move(bool writes, const ScratchFile& file, const Memory& memory, const Stretch& stretch);

// Throws Failure unless the first `bytes` of the file are `memory` repeated. All are multiples of 256 KiB.
void check_bytes(const ScratchFile& file, const Memory& memory, int64_t bytes);
// Throws Failure when the first `bytes` of both differ.
void check_bytes(const std::byte* found, const std::byte* right, int64_t bytes);

}  // namespace tool
