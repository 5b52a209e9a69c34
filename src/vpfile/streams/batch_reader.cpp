#include "vpfile/streams/batch_reader.hpp"

#include <algorithm>

namespace thalweg {

using format::Batch;
using format::BatchPiece;

// It is the last piece that ends the stream.
Result<std::uint64_t> BatchReader::length(std::uint64_t vp) {
  const auto all = stored_.of(vp);
  for (auto batch = all.rbegin(); batch != all.rend(); ++batch) {
    TW_ASSIGN_OR_RETURN(const BatchPiece piece, piece_of(**batch, vp));
    if (!piece.is_empty()) return piece.end;
  }
  return std::uint64_t{0};
}

// The batch becomes the one that was read last.
Result<BatchPiece> BatchReader::piece_of(const Batch& batch, std::uint64_t vp) {
  const bool is_near =
      !near_bytes_.empty() && near_.superblock == batch.superblock && near_.first_block == batch.first_block;
  if (!is_near) {
    forget();
    const std::uint64_t begin = batch.superblock * (geometry_.superblock_bytes / geometry_.block_bytes);
    const std::uint64_t address = begin + geometry_.header_blocks() + batch.first_block;
    TW_ASSIGN_OR_RETURN(const std::byte* memory, superblocks_.blocks({address, batch.blocks}, false));
    near_ = batch;
    near_bytes_ = {memory, std::uint64_t{batch.blocks} * geometry_.block_bytes};
  }
  const auto piece = format::piece_in(near_bytes_, batch, vp - batch.vp);
  if (piece.has_value()) return *piece;
  return Status::error(Code::corrupt_file, "'{}': superblock {}: the table of a batch is wrong", path_,
                       batch.superblock);
}

// Narrows `shown`, which has byte `at`, by the pieces of a list. The pieces of a stream follow each other, so the search
// begins behind the one that was read last.
Status BatchReader::look_in(BatchList& list, std::uint64_t vp, std::uint64_t at, ShownPiece& shown) {
  const auto all = list.of(vp);
  std::size_t place = shown.place < all.size() ? shown.place : 0;
  for (std::size_t left = all.size(); left > 0; --left, place = place + 1 < all.size() ? place + 1 : 0) {
    const Batch& batch = *all[place];
    const bool beside = at >= batch.most || batch.least >= shown.end;
    if (beside) continue;
    TW_ASSIGN_OR_RETURN(const BatchPiece piece, piece_of(batch, vp));
    if (piece.is_empty() || piece.end <= at) continue;
    if (piece.begin > at) {
      shown.end = std::min(shown.end, piece.begin);
      continue;
    }
    shown = {piece.begin, piece.end, near_bytes_.data() + piece.at, place};
    near_place_ = place;
    return {};
  }
  return {};
}

Result<ShownPiece> BatchReader::look(const StreamState& state, std::uint64_t vp, std::uint64_t at) {
  const bool chained = state.has(StreamState::kChained);
  ShownPiece shown{at, state.bytes, nullptr, chained ? near_place_ : state.cursor()};
  TW_RETURN_IF_ERROR(look_in(stored_, vp, at, shown));
  superblocks_.end_batch();
  if (shown.memory == nullptr) TW_RETURN_IF_ERROR(look_in(own_, vp, at, shown));
  if (shown.memory != nullptr || (chained && !may_lack_bytes(vp))) return shown;
  return Status::error(Code::corrupt_file, "'{}': bytes {} to {} of the stream of virtual processor {} are lost", path_,
                       at, shown.end - 1, vp);
}

Status BatchReader::check_whole(StreamState& state, std::uint64_t vp) {
  for (std::uint64_t at = 0; at < state.bytes && may_lack_bytes(vp);) {
    TW_ASSIGN_OR_RETURN(const ShownPiece shown, look(state, vp, at));
    at = shown.end;
    state.set_cursor(shown.place + 1);
  }
  return {};
}

Status BatchReader::read(StreamState& state, std::uint64_t vp, std::uint64_t from, std::span<std::byte> to) {
  while (!to.empty()) {
    TW_ASSIGN_OR_RETURN(const ShownPiece shown, look(state, vp, from));
    const std::uint64_t bytes = std::min<std::uint64_t>(shown.end - from, to.size());
    if (shown.memory != nullptr)
      std::memcpy(to.data(), shown.memory + (from - shown.begin), bytes);
    else
      std::memset(to.data(), 0, bytes);
    from += bytes;
    to = to.subspan(bytes);
    if (!state.has(StreamState::kChained)) state.set_cursor(shown.place + (from == shown.end ? 1 : 0));
  }
  return {};
}

}  // namespace thalweg
