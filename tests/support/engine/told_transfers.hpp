// While an object lives, a function replaces the result of every transfer of this process, including those of io_uring.
// The function may set errno and return -1.
#pragma once

#include <unistd.h>

#include <cerrno>

#include "os/file_ops.hpp"
#include "storage/uring_seam.hpp"

namespace thalweg::test {

class ToldTransfers {
 public:
  using Teller = ssize_t (*)(ssize_t really);
  explicit ToldTransfers(Teller teller) {
    tell = teller;
    transfer_calls() = {read_one, read_parts, write_one, write_parts, saved_.sync};
    uring_seam().answer = [](int given) {
      if (given < 0) return given;
      const ssize_t said = tell(given);
      return said < 0 ? -errno : static_cast<int>(said);
    };
  }
  ~ToldTransfers() {
    transfer_calls() = saved_;
    uring_seam() = {};
  }
  ToldTransfers(const ToldTransfers&) = delete;
  ToldTransfers& operator=(const ToldTransfers&) = delete;

 private:
  static inline Teller tell = nullptr;
  static ssize_t read_one(int fd, void* data, std::size_t bytes, off_t at) {
    return tell(::pread(fd, data, bytes, at));
  }
  static ssize_t read_parts(int fd, const iovec* parts, int n, off_t at) { return tell(::preadv(fd, parts, n, at)); }
  static ssize_t write_one(int fd, const void* data, std::size_t bytes, off_t at) {
    return tell(::pwrite(fd, data, bytes, at));
  }
  static ssize_t write_parts(int fd, const iovec* parts, int n, off_t at) { return tell(::pwritev(fd, parts, n, at)); }

  const TransferCalls saved_ = transfer_calls();
};

}  // namespace thalweg::test
