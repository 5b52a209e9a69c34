// OpenBatch: a batch (format/batch.hpp) that is being filled in the memory of a superblock, in the order of VPs.
#pragma once

#include <algorithm>
#include <vector>

#include "vpfile/format/batch.hpp"

namespace thalweg {

class OpenBatch {
 public:
  static constexpr std::uint64_t kMostLeftOut = 8;  // VPs between two pieces, which have empty ones
  bool is_empty() const { return pieces_.empty(); }
  // Begins in `memory`, which has room for pieces and table in whole blocks.
  void begin(std::uint64_t vp, std::uint64_t base, std::span<std::byte> memory) {
    vp_ = vp;
    base_ = base;
    memory_ = memory;
    bytes_ = 0;
  }
  // Whether a piece of `vp` from byte `begin` of its IB segment on may follow, and fits. A few VPs may be left out.
  bool has_room(std::uint64_t vp, std::uint64_t begin, std::uint64_t bytes) const {
    const std::uint64_t place = vp - vp_;
    const auto past_base = static_cast<std::int64_t>(begin - base_);
    return place - pieces_.size() <= kMostLeftOut && past_base == static_cast<std::int32_t>(past_base) &&
           bytes_ + bytes + format::kPieceBytes * (place + 1) <= memory_.size();
  }
  // The memory of the piece, which the caller fills.
  std::byte* add(std::uint64_t vp, std::uint64_t begin, std::uint64_t bytes) {
    while (pieces_.size() < vp - vp_) pieces_.push_back(format::encode_piece(0, bytes_));
    pieces_.push_back(format::encode_piece(begin - base_, bytes_ + bytes));
    bytes_ += bytes;
    return memory_.data() + (bytes_ - bytes);
  }
  // Adds the table. Returns the row of the batch, which begins with block `first_block`.
  format::SuperblockRow finish(std::uint32_t first_block, int block_shift) {
    const std::uint64_t table_bytes = format::kPieceBytes * pieces_.size();
    const std::uint64_t blocks = (bytes_ + table_bytes + (std::uint64_t{1} << block_shift) - 1) >> block_shift;
    const std::span<std::byte> table = memory_.first(blocks << block_shift).last(table_bytes);
    std::fill(memory_.data() + bytes_, table.data(), std::byte{0});
    for (std::size_t i = 0; i < pieces_.size(); ++i) store_le(table.subspan(format::kPieceBytes * i), pieces_[i]);
    return {vp_,
            base_,
            static_cast<std::uint32_t>(pieces_.size()),
            static_cast<std::uint32_t>(blocks),
            first_block,
            format::kBatchRow};
  }
  void clear() { pieces_.clear(); }

 private:
  std::vector<std::uint64_t> pieces_;  // entries of the table
  std::uint64_t vp_ = 0;               // of the first one
  std::uint64_t base_ = 0;             // positions in the table count from here
  std::span<std::byte> memory_;
  std::uint64_t bytes_ = 0;  // of the pieces
};

}  // namespace thalweg
