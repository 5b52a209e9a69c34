// Page-aligned memory, one file by POSIX calls, which move all requested bytes or throw Failed, and the files of a folder.
// Without MPI: `thalweg tune` measures with them, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

namespace probe {

// The message names file, call and reason. The probe then ends all ranks (MPI_Abort).
struct Failed : std::runtime_error {
  using std::runtime_error::runtime_error;
};
// Throws Failed with the text of errno: "cannot ACTION 'PATH': TEXT".
[[noreturn]] void fail_errno(const std::string& action, const std::string& path);

// Page-aligned memory. Throws std::bad_alloc.
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
  enum class Use { create, read };  // a created file can be read, too
  PosixFile(std::string path, Use use);
  PosixFile(PosixFile&& other) noexcept : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)) {}
  ~PosixFile();  // closes without reporting

  void write(std::span<const std::byte> bytes, std::int64_t offset) const;
  void read(std::span<std::byte> bytes, std::int64_t offset) const;
  void sync() const;
  void close();

  const std::string& path() const { return path_; }
  int fd() const { return fd_; }

 private:
  std::string path_;
  int fd_ = -1;
};

// Makes durable every `size`-th file or folder below the folder, itself included, beginning with number `rank`.
void sync_folder(const std::string& folder, int rank, int size);
// Bytes of a block of the file system (a stripe, where it is reported), at least 4096.
std::int64_t block_bytes(const std::string& folder);
// Drops the pages of all files below the folder on this node. Returns whether they are gone.
bool drop_pages(const std::string& folder);

}  // namespace probe
