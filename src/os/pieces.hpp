// Lists of pieces of memory, which one transfer moves one behind the other in the file.
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <span>
#include <string>

#include "base/piece.hpp"
#include "base/status.hpp"

namespace thalweg {

// The sum of lengths; fails with out_of_range where a transfer of so many bytes from `offset` on exceeds the largest
// offset.
Result<std::uint64_t> bytes_of(std::span<const Piece> pieces, std::uint64_t offset, const std::string& path);

// Checks the alignment of a direct transfer: invalid_argument where it is violated, or `alignment` is 0.
Status check_direct(std::span<const Piece> pieces, std::uint64_t offset, std::uint32_t alignment,
                    const std::string& path);

// The remaining pieces of a transfer as iovec entries: a limited number of entries and bytes per call, continued at any
// byte after a short transfer.
class RemainingPieces {
 public:
  RemainingPieces() = default;
  explicit RemainingPieces(std::span<const Piece> pieces);
  std::uint64_t bytes() const { return bytes_; }
  void advance(std::uint64_t bytes);
  // Fills `room` with the next entries, of at most `most_bytes` in total; returns the part of it that was filled.
  std::span<iovec> next(std::span<iovec> room, std::uint64_t most_bytes) const;

 private:
  void skip_done();

  std::span<const Piece> pieces_;
  std::uint64_t done_ = 0;   // bytes done of the first piece
  std::uint64_t bytes_ = 0;  // still to be moved
};

}  // namespace thalweg
