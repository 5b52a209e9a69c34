// The remaining parts of a transfer as iovec entries: a limited number of entries and bytes per call, continued at
// any byte after a short transfer.
//
// A Part is any type that has an as_vector().
#pragma once

#include <sys/uio.h>

#include <algorithm>
#include <cstdint>
#include <span>

#include "base/endian.hpp"

namespace thalweg {

inline const iovec& as_vector(const iovec& part) { return part; }
// iovec serves both directions and therefore has no const; the kernel only reads what it writes to a file.
inline iovec as_vector(ByteView part) { return {const_cast<std::byte*>(part.data()), part.size()}; }

template <class Part>
class RemainingParts {
 public:
  RemainingParts() = default;
  explicit RemainingParts(std::span<const Part> parts) : parts_(parts) {
    for (const Part& part : parts) bytes_ += as_vector(part).iov_len;
    skip_done();
  }
  std::uint64_t bytes() const { return bytes_; }
  void advance(std::uint64_t bytes) {
    bytes_ -= bytes;
    done_ += bytes;
    skip_done();
  }
  // Fills `room` with the next entries, of at most `most_bytes` in total; returns the part of it that was filled.
  std::span<iovec> next(std::span<iovec> room, std::uint64_t most_bytes) const {
    std::size_t count = 0;
    std::uint64_t skip = done_;
    for (const Part& part : parts_) {
      if (count == room.size() || most_bytes == 0) break;
      const iovec all = as_vector(part);
      const std::uint64_t bytes = std::min<std::uint64_t>(all.iov_len - skip, most_bytes);
      if (bytes > 0) room[count++] = {static_cast<std::byte*>(all.iov_base) + skip, bytes};
      most_bytes -= bytes;
      skip = 0;
    }
    return room.first(count);
  }

 private:
  void skip_done() {
    while (!parts_.empty() && done_ >= as_vector(parts_.front()).iov_len) {
      done_ -= as_vector(parts_.front()).iov_len;
      parts_ = parts_.subspan(1);
    }
  }

  std::span<const Part> parts_;
  std::uint64_t done_ = 0;   // bytes done of the first part
  std::uint64_t bytes_ = 0;  // still to be moved
};

}  // namespace thalweg
