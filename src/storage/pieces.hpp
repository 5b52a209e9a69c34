// Helpers of backends and queues for lists of pieces of memory.
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <span>
#include <string>

#include "access/extent.hpp"
#include "base/status.hpp"

namespace thalweg {

inline iovec as_vector(const Piece& piece) { return {piece.memory, piece.bytes}; }

// The sum of lengths; fails with out_of_range where a transfer of so many bytes from `offset` on exceeds the largest
// offset.
Result<std::uint64_t> bytes_of(std::span<const Piece> pieces, std::uint64_t offset, const std::string& path);

// Checks the alignment of a direct transfer: invalid_argument where it is violated, or `alignment` is 0.
Status check_direct(std::span<const Piece> pieces, std::uint64_t offset, std::uint32_t alignment,
                    const std::string& path);

}  // namespace thalweg
