#include "vpfile/streams/block_store.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/size_units.hpp"

namespace thalweg {

using format::BlockRun;

namespace {

constexpr std::uint64_t kPiecesPerSuperblock = 16;  // at least

}  // namespace

BlockStore::BlockStore(const SegmentSetup& setup)
    : block_(setup.meta.geometry.block_bytes),
      block_shift_(std::countr_zero(block_)),
      stored_(setup.sides->sums(format::DirectoryFile::first) != nullptr),
      most_piece_(setup.meta.geometry.superblock_bytes / kPiecesPerSuperblock),
      superblocks_(setup, own_batches_),
      pieces_(setup, superblocks_, own_batches_),
      directory_(setup) {}

// A stream without an entry is made up of pieces of batches.
Status BlockStore::load_stored(StreamState& state, std::uint64_t vp) {
  if (vp / EntryFile::kPerPage != page_) {
    page_ = vp / EntryFile::kPerPage;
    page_has_entries_ = directory_.has_entries(vp);
  }
  if (page_has_entries_) TW_RETURN_IF_ERROR(directory_.find_end(vp, state.bytes, state.last));
  if (state.bytes > 0) {
    state.set(StreamState::kChained);
    return {};
  }
  TW_ASSIGN_OR_RETURN(state.bytes, pieces_.length(vp));
  return {};
}

// A stream that is not only appended to gets a chain: a hole in place of its pieces, which still count there.
Status BlockStore::begin_chain(StreamState& state, std::uint64_t vp) {
  if (state.has(StreamState::kChained)) return {};
  TW_RETURN_IF_ERROR(pieces_.check_whole(state, vp));  // the hole would hide that bytes are lost
  if (state.bytes > 0)
    TW_RETURN_IF_ERROR(directory_.append(vp, {0, blocks_for(state.bytes)}, 0, state.bytes, state.last));
  state.set(StreamState::kChained);
  state.set_cursor(0);
  return {};
}

Status BlockStore::find(StreamState& state, std::uint64_t vp, std::uint64_t index, BlockRun& run) {
  const std::uint64_t blocks = blocks_for(state.bytes);
  if (index + 1 == blocks) return directory_.find_last(vp, blocks, state.last, run);
  std::uint64_t cursor = state.cursor();
  TW_RETURN_IF_ERROR(directory_.find(vp, index, cursor, run));
  state.set_cursor(cursor);
  return {};
}

Result<std::uint64_t> BlockStore::gap_at(StreamState& state, std::uint64_t vp, std::uint64_t from) {
  if (!state.has(StreamState::kChained)) return std::uint64_t{0};
  std::uint64_t cursor = state.cursor();
  TW_ASSIGN_OR_RETURN(const std::uint64_t blocks, directory_.gap_at(vp, index_of(from), cursor));
  state.set_cursor(cursor);
  if (blocks == 0) return std::uint64_t{0};
  TW_ASSIGN_OR_RETURN(const ShownPiece shown, pieces_.look(state, vp, from));
  if (shown.memory != nullptr) return std::uint64_t{0};
  return std::min(std::min(blocks, kMostOffset >> block_shift_) * block_ - within(from), shown.end - from);
}

// Moves bytes within the blocks of the stream.
template <Direction How>
Status BlockStore::move_there(StreamState& state, std::uint64_t vp, std::uint64_t from, Piece piece) {
  constexpr bool kWrites = How == Direction::write;
  if (!kWrites && !state.has(StreamState::kChained)) return pieces_.read(state, vp, from, {piece.memory, piece.bytes});
  while (piece.bytes > 0) {
    const std::uint64_t skipped = within(from);
    BlockRun run;
    TW_RETURN_IF_ERROR(find(state, vp, index_of(from), run));
    run.blocks = std::min(run.blocks, blocks_for(skipped + piece.bytes));
    std::byte* memory = nullptr;  // a hole that is read has none
    if (kWrites && (run.is_hole() || !superblocks_.may_change(run))) {
      TW_ASSIGN_OR_RETURN(memory, renew(state, vp, index_of(from), run));
    } else if (!run.is_hole()) {
      TW_ASSIGN_OR_RETURN(memory, blocks(run, kWrites));
    }
    const std::uint64_t bytes = std::min(run.blocks * block_ - skipped, piece.bytes);
    if (kWrites)
      std::memcpy(memory + skipped, piece.memory, bytes);
    else if (memory != nullptr)
      std::memcpy(piece.memory, memory + skipped, bytes);
    else
      TW_RETURN_IF_ERROR(pieces_.read(state, vp, from, {piece.memory, bytes}));
    from += bytes;
    piece = {piece.memory + bytes, piece.bytes - bytes};
  }
  return {};
}

// Appends a hole between the last block and that of `from`.
Status BlockStore::add_hole(StreamState& state, std::uint64_t vp, std::uint64_t from) {
  const std::uint64_t there = blocks_for(state.bytes);
  const std::uint64_t wanted = index_of(from);
  if (wanted <= there) return {};
  TW_RETURN_IF_ERROR(directory_.append(vp, {0, wanted - there}, there, wanted * block_, state.last));
  grew(state, wanted * block_);
  return {};
}

// Sets the length after an append. Without an entry in NAME.dir, the directory has stored it already.
void BlockStore::grew(StreamState& state, std::uint64_t bytes) {
  state.bytes = bytes;
  state.clear(StreamState::kGrown);  // the row of the last block states it
  if (state.last != 0) state.set(StreamState::kChanged);
}

// Copies the blocks of `run`, or as many of them as there is room for, into new blocks.
Result<std::byte*> BlockStore::renew(StreamState& state, std::uint64_t vp, std::uint64_t index, BlockRun& run) {
  old_.assign(run.blocks * block_, std::byte{0});
  const bool is_copy = !run.is_hole();
  if (is_copy) {
    TW_ASSIGN_OR_RETURN(const std::byte* memory, blocks(run, false));
    std::memcpy(old_.data(), memory, old_.size());
  }
  const std::uint64_t bytes = std::min<std::uint64_t>(old_.size(), state.bytes - index * block_);
  if (!is_copy) TW_RETURN_IF_ERROR(pieces_.read(state, vp, index * block_, std::span(old_).first(bytes)));
  std::byte* memory = nullptr;
  TW_RETURN_IF_ERROR(find_room(run, memory));
  std::memcpy(memory, old_.data(), run.blocks * block_);
  state.set_cursor(0);  // entries move
  TW_RETURN_IF_ERROR(directory_.replace(vp, index, run, state.last));
  superblocks_.take(run, vp, index, bytes);
  if (is_copy) superblocks_.mark_copies();
  return memory;
}

Status BlockStore::append(StreamState& state, std::uint64_t vp, std::uint64_t from, std::span<const std::byte> data) {
  while (!data.empty()) {
    const std::uint64_t skipped = within(from);
    const std::uint64_t wanted = skipped + data.size();
    BlockRun run{0, blocks_for(wanted)};
    std::byte* memory = nullptr;
    TW_RETURN_IF_ERROR(find_room(run, memory));
    const std::uint64_t taken = run.blocks * block_;
    const std::uint64_t bytes = std::min<std::uint64_t>(taken - skipped, data.size());
    if (skipped > 0) std::memset(memory, 0, skipped);
    std::memcpy(memory + skipped, data.data(), bytes);
    if (taken > skipped + bytes) std::memset(memory + skipped + bytes, 0, taken - skipped - bytes);
    TW_RETURN_IF_ERROR(directory_.append(vp, run, index_of(from), from + bytes, state.last));
    superblocks_.take(run, vp, index_of(from), wanted);
    from += bytes;
    data = data.subspan(bytes);
    grew(state, from);
  }
  return {};
}

Status BlockStore::write(StreamState& state, std::uint64_t vp, std::uint64_t from, Piece piece) {
  const std::uint64_t before = state.bytes;
  Status status = or_out_of_memory([&] { return write_parts(state, vp, from, piece); });
  if (!status.ok() && state.bytes != before) state.set(StreamState::kGrown);  // bytes that were added may be a gap
  added_ += state.bytes - before;
  return status;
}

Status BlockStore::write_parts(StreamState& state, std::uint64_t vp, std::uint64_t from, Piece piece) {
  TW_RETURN_IF_ERROR(begin_chain(state, vp));
  const std::uint64_t there = blocks_for(state.bytes) << block_shift_;
  if (from > there) TW_RETURN_IF_ERROR(add_hole(state, vp, from));
  if (from < there) {
    const std::uint64_t kept = std::min(there - from, piece.bytes);
    TW_RETURN_IF_ERROR(move_there<Direction::write>(state, vp, from, {piece.memory, kept}));
    from += kept;
    piece = {piece.memory + kept, piece.bytes - kept};
    if (from > state.bytes) {
      state.bytes = from;
      state.set(StreamState::kGrown | StreamState::kChanged);
    }
  }
  return append(state, vp, from, std::span(piece.memory, piece.bytes));
}

Status BlockStore::flush(StreamTable& streams, const LocalVps& vps) {
  pieces_.forget();
  TW_RETURN_IF_ERROR(streams.settle(StreamState::kGrown, [&](std::uint64_t local, std::uint64_t bytes) {
    return superblocks_.add_length(vps.number(local), bytes);
  }));
  return superblocks_.flush();
}

Status BlockStore::finish(StreamTable& streams, const LocalVps& vps) {
  TW_RETURN_IF_ERROR(flush(streams, vps));
  TW_RETURN_IF_ERROR(streams.settle(StreamState::kChanged, [&](std::uint64_t local, std::uint64_t bytes) {
    return directory_.set_bytes(vps.number(local), bytes);
  }));
  return directory_.flush();
}

template Status BlockStore::move_there<Direction::read>(StreamState&, std::uint64_t, std::uint64_t, Piece);

}  // namespace thalweg
