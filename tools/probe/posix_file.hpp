// One file by POSIX calls: moves all requested bytes or throws Failed. Direct I/O on request, where the file system
// supports it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace probe {

inline constexpr std::size_t kAligned = 4096;  // memory, offsets and lengths of direct I/O

// Page-aligned memory.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t bytes);
  std::span<std::byte> span() const { return {memory_.get(), bytes_}; }
  std::size_t size() const { return bytes_; }

 private:
  struct Free {
    void operator()(std::byte* memory) const noexcept;
  };
  std::unique_ptr<std::byte[], Free> memory_;
  std::size_t bytes_ = 0;
};

class PosixFile {
 public:
  enum class Use { create, read };
  PosixFile(std::string path, Use use, bool direct);
  PosixFile(const PosixFile&) = delete;
  PosixFile& operator=(const PosixFile&) = delete;
  ~PosixFile();  // closes without reporting

  bool direct() const { return direct_; }  // actually in use
  void write(std::span<const std::byte> bytes, std::int64_t offset);
  void read(std::span<std::byte> bytes, std::int64_t offset);
  void sync();
  void close();

 private:
  void leave_direct();
  std::size_t read_window(std::span<std::byte> bytes, std::int64_t offset);

  std::string path_;
  int fd_ = -1;
  bool direct_ = false;
  Buffer window_;  // for unaligned direct reads: bytes of the file from window_begin_ on
  std::int64_t window_begin_ = 0;
  std::size_t window_bytes_ = 0;
};

// Reads a file with one array from its first byte to its last, in pieces of bounded memory.
void see_file(const std::string& path, std::int64_t bytes,
              const std::function<void(std::int64_t first, std::span<const std::byte> bytes)>& see);

}  // namespace probe
