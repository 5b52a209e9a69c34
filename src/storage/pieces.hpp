// What backends and queues do with rows of pieces of memory.
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <span>
#include <string>

#include "access/extent.hpp"
#include "base/status.hpp"

namespace thalweg {

inline iovec as_vector(const Piece& piece) { return {piece.memory, piece.bytes}; }

// The sum; fails with out_of_range where a transfer of so many bytes from `offset` on would pass the end of all files.
Result<std::uint64_t> bytes_of(std::span<const Piece> pieces, std::uint64_t offset, const std::string& path);

// How a transfer past the page cache must lie: fails with invalid_argument where it does not, or where `alignment` is
// 0.
Status check_direct(std::span<const Piece> pieces, std::uint64_t offset, std::uint32_t alignment,
                    const std::string& path);

}  // namespace thalweg
