// Which way a transfer moves bytes, and a piece of memory that it moves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace thalweg {

enum class Direction : std::uint8_t { read, write };

// A piece of memory that a transfer moves to or from one place of a file.
struct Piece {
  std::byte* memory = nullptr;  // borrowed; only read when writing
  std::uint64_t bytes = 0;
};

// For a write, which only reads the memory.
inline Piece piece_of(std::span<const std::byte> data) { return {const_cast<std::byte*>(data.data()), data.size()}; }

}  // namespace thalweg
