// One file by POSIX calls: moves all requested bytes or throws Failed. Direct I/O on request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>

namespace probe {

inline constexpr std::size_t kPage = 4096;  // memory, offsets and lengths of direct I/O are multiples

inline std::size_t whole_pages(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

// Page-aligned memory, with whole pages.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t bytes);
  std::span<std::byte> span() const { return {memory_.get(), bytes_}; }

 private:
  std::unique_ptr<std::byte, decltype(&std::free)> memory_{nullptr, &std::free};
  std::size_t bytes_ = 0;
};

class PosixFile {
 public:
  enum class Use { create, read };
  PosixFile(std::string path, Use use, bool direct);
  PosixFile(const PosixFile&) = delete;
  PosixFile& operator=(const PosixFile&) = delete;
  ~PosixFile();  // closes without reporting

  // With direct I/O the bytes begin at a page of a Buffer, the offset is a multiple of a page, and whole pages are
  // written; close() cuts off what is too much.
  void write(std::span<const std::byte> bytes, std::int64_t offset);
  // With direct I/O, what are no whole pages is taken from a copy of the whole file, which the first such call reads.
  void read(std::span<std::byte> bytes, std::int64_t offset);
  void sync();
  void close();

 private:
  void read_pages(std::byte* memory, std::size_t wanted, std::size_t most, std::int64_t offset);

  std::string path_;
  int fd_ = -1;
  bool direct_;
  std::int64_t written_ = 0;  // end of what was written
  Buffer copy_;
};

}  // namespace probe
