// Fill slots: section 4 of docs/format/store.md. A chunk of a multifile and a superblock of a vpfile have two.
#pragma once

#include <array>
#include <optional>

#include "store/format/bound_seal.hpp"

namespace thalweg::format {

inline constexpr std::uint64_t kFillSlotOffset[2] = {128, 160};  // from the begin of the frame
inline constexpr std::uint64_t kFillSlotBytes = 32;

struct FillSlot {
  std::uint64_t bytes = 0;  // superblock: number of blocks, and of rows in the upper half
  std::uint64_t count = 0;
  std::uint32_t tail_seal = 0;
  bool synced = false;
  bool updating = false;         // superblock: sealed blocks were being overwritten
  std::uint32_t table_seal = 0;  // superblock: of the rows
  std::uint32_t blocks() const { return static_cast<std::uint32_t>(bytes); }
  std::uint32_t rows() const { return static_cast<std::uint32_t>(bytes >> 32); }
};
constexpr std::uint64_t rows_and_blocks(std::uint64_t rows, std::uint32_t blocks) { return rows << 32 | blocks; }

// `offset`: of the slot itself.
std::array<std::byte, kFillSlotBytes> encode_fill(const FillSlot& slot, const FileIdentity& id, std::uint64_t offset);
// No value where the slot is zero or invalid. `capacity`: most bytes of the data area.
std::optional<FillSlot> parse_fill(ByteView bytes, const FileIdentity& id, std::uint64_t offset,
                                   std::uint64_t capacity);

}  // namespace thalweg::format
