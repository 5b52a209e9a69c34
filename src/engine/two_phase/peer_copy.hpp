// PeerCopy: copies the bytes of extents between a window in staging and the memory of a process, which may be this one
// (os/peer_memory.hpp).
//
// The kernel looks up pages for each piece of a call. So small pieces that lie one behind the other in that memory, at
// equal distances in the file, are copied as one piece through a buffer here.
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstdint>

#include "engine/two_phase/extent_run.hpp"
#include "os/peer_memory.hpp"

namespace thalweg {

class PeerCopy {
 public:
  // `buffer` holds the file from `begin` on.
  PeerCopy(Direction direction, std::int64_t process, std::byte* buffer, std::uint64_t begin)
      : direction_(direction), process_(process), buffer_(buffer), begin_(begin) {}
  // Bytes from offset `end` on are left alone.
  void add(const ExtentRun& run, std::uint64_t end);
  Status finish();

 private:
  static constexpr std::size_t kMost = 256;          // entries of a call
  static constexpr std::uint64_t kFewest = 16;       // pieces copied together: each time costs a call
  static constexpr std::uint64_t kSmall = 4096;      // bytes of a piece
  static constexpr std::size_t kAtOnce = 32 * 1024;  // bytes copied together, on the stack
  // Whether the extents of a run are copied together.
  static bool together(const ExtentRun& run) {
    return run.count >= kFewest && run.address_step == run.bytes && run.bytes > 0 && run.bytes <= kSmall;
  }
  void add_one(const Extent& extent);
  void flush();
  Status move_together(const ExtentRun& run);

  const Direction direction_;
  const std::int64_t process_;
  std::byte* const buffer_;
  const std::uint64_t begin_;
  std::array<iovec, kMost> here_, there_;
  std::size_t n_ = 0;
  Status status_;
};

}  // namespace thalweg
