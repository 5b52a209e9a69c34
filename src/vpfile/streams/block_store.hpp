// BlockStore: the bytes of one task's streams in the IB segment. Each stream grows on its own, in blocks, without
// messages between tasks.
//
// Positions here count from the beginning of the segment. One call at a time.
#pragma once

#include <span>
#include <vector>

#include "vpfile/shape.hpp"
#include "vpfile/streams/batch_reader.hpp"
#include "vpfile/streams/block_directory.hpp"

namespace thalweg {

class BlockStore {
 public:
  explicit BlockStore(const SegmentSetup& setup);

  // Loads `bytes` and `last` of a state from the directory.
  Status load(StreamState& state, std::uint64_t vp) {
    if (state.has(StreamState::kLoaded)) return {};
    if (stored_) TW_RETURN_IF_ERROR(load_stored(state, vp));
    state.set(StreamState::kLoaded);
    return {};
  }
  // Whether `bytes` bytes from `from` on may go into a batch: they continue a loaded stream that has no chain.
  bool may_batch(const StreamState& state, std::uint64_t from, std::uint64_t bytes) const {
    return from == state.bytes && !state.has(StreamState::kChained) && bytes <= most_piece_;
  }
  // The caller writes the piece to `memory` before the next call.
  Status add_piece(StreamState& state, std::uint64_t vp, std::uint64_t bytes, std::byte*& memory) {
    pieces_.forget();
    TW_RETURN_IF_ERROR(superblocks_.add_piece(vp, state.bytes, bytes, memory));
    state.bytes += bytes;
    added_ += bytes;
    return {};
  }
  // Moves bytes of a loaded state from `from` on. A read lies within the stream; a write overwrites stored bytes and
  // appends the rest. A gap reads as zeros.
  Status move(Direction direction, StreamState& state, std::uint64_t vp, std::uint64_t from, Piece piece) {
    if (direction == Direction::read && pieces_.read_near(state, vp, from, {piece.memory, piece.bytes})) return {};
    return direction == Direction::read ? move_there<Direction::read>(state, vp, from, piece)
                                        : write(state, vp, from, piece);
  }

  // The first VP from `vp` on that may have bytes.
  Result<std::uint64_t> next_stream(std::uint64_t vp) {
    TW_ASSIGN_OR_RETURN(const std::uint64_t next, directory_.next_entry(vp));
    return std::min(next, pieces_.next(vp));
  }
  // Bytes from `from` on that are a hole of the stream.
  Result<std::uint64_t> gap_at(StreamState& state, std::uint64_t vp, std::uint64_t from);

  // Bytes written so far survive the death of the process from then on.
  Status flush(StreamTable& streams, const LocalVps& vps);
  // As flush(), and also stores the directory.
  Status finish(StreamTable& streams, const LocalVps& vps);
  void set_durable() { superblocks_.set_durable(); }

  std::uint64_t end_of_superblocks() const { return superblocks_.end(); }
  std::uint64_t superblocks() const { return superblocks_.made(); }
  std::uint64_t end_of_entries() const { return directory_.end(); }
  std::uint64_t added() const { return added_; }  // bytes of all streams
  void end_batch() { superblocks_.end_batch(); }
  // The batches of this session.
  std::span<const format::Batch> batches() const { return own_batches_.all(); }
  // Changes of the sums of the entries that finish() stored.
  std::vector<SumChange> sum_changes() const { return directory_.changes(); }

 private:
  // Calls of SuperblockStore that may evict a superblock.
  Result<std::byte*> blocks(format::BlockRun run, bool change) {
    pieces_.forget();
    return superblocks_.blocks(run, change);
  }
  Status find_room(format::BlockRun& run, std::byte*& memory) {
    pieces_.forget();
    return superblocks_.find_room(run, memory);
  }
  Status load_stored(StreamState& state, std::uint64_t vp);
  Status begin_chain(StreamState& state, std::uint64_t vp);
  template <Direction How>
  Status move_there(StreamState& state, std::uint64_t vp, std::uint64_t from, Piece piece);
  Status write(StreamState& state, std::uint64_t vp, std::uint64_t from, Piece piece);
  Status write_parts(StreamState& state, std::uint64_t vp, std::uint64_t from, Piece piece);
  Status add_hole(StreamState& state, std::uint64_t vp, std::uint64_t from);
  Result<std::byte*> renew(StreamState& state, std::uint64_t vp, std::uint64_t index, format::BlockRun& run);
  Status append(StreamState& state, std::uint64_t vp, std::uint64_t from, std::span<const std::byte> data);
  Status find(StreamState& state, std::uint64_t vp, std::uint64_t index, format::BlockRun& run);
  static void grew(StreamState& state, std::uint64_t bytes);
  std::uint64_t index_of(std::uint64_t at) const { return at >> block_shift_; }  // number of the block
  std::uint64_t within(std::uint64_t at) const { return at & (block_ - 1); }     // offset in the block
  std::uint64_t blocks_for(std::uint64_t bytes) const { return (bytes + block_ - 1) >> block_shift_; }

  std::uint64_t block_;
  int block_shift_;
  bool stored_;                             // other sessions may have stored entries
  std::uint64_t page_ = ~std::uint64_t{0};  // of entries that was asked for last
  bool page_has_entries_ = false;
  std::uint64_t added_ = 0;
  std::vector<std::byte> old_;
  std::uint64_t most_piece_;  // so that little of a superblock stays unused behind the last piece
  BatchList own_batches_;     // of this session
  SuperblockStore superblocks_;
  BatchReader pieces_;
  BlockDirectory directory_;
};

}  // namespace thalweg
