// An open file of the operating system, closed when it goes out of scope.
#pragma once

#include <utility>

namespace thalweg {

// Closes and forgets errors; where they matter close_file() of file_ops.hpp comes first.
void close_descriptor(int fd);

class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(other.release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = other.release();
    }
    return *this;
  }
  ~FileDescriptor() { reset(); }

  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }

 private:
  void reset() {
    if (is_open()) close_descriptor(release());
  }

  int fd_ = -1;
};

}  // namespace thalweg
