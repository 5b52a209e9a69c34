// SuperblockStore: the superblocks of a vpfile that one task writes, and those that it reads, through a cache of them.
//
// New and changed blocks of a superblock stay in memory until its place is needed or flush() is called. They are stored
// in the order of section 3 of docs/format/vpfile.md, so that sealed blocks stay valid:
//
//   1. where sealed blocks were changed: a seal with the flag "updating", then those blocks
//   2. new blocks and rows
//   3. the seal of all that; with the first one the header of the superblock
//
// Once something was synced, each step reaches the storage before the next one begins. Otherwise stored copies of
// blocks of earlier sessions are synced before step 1: an "updating" seal holds even if its blocks are lost, and a copy
// hides the original.
//
// One call at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>

#include "vpfile/format/directory.hpp"
#include "vpfile/format/superblock.hpp"
#include "vpfile/streams/batch_list.hpp"
#include "vpfile/streams/open_batch.hpp"
#include "vpfile/streams/page_cache.hpp"
#include "vpfile/streams/segment_setup.hpp"

namespace thalweg {

class SuperblockStore {
 public:
  SuperblockStore(const SegmentSetup& setup, BatchList& batches);  // it adds those that it makes

  // Finds room for new blocks: as many of run.blocks as fit, at least one. `run` becomes these blocks, and `memory` is
  // theirs until the next call.
  Status find_room(format::BlockRun& run, std::byte*& memory) {
    if (!open_batch_.is_empty()) [[unlikely]]
      end_batch();
    if (current_ == nullptr || room_of(*current_) == 0) [[unlikely]]
      TW_RETURN_IF_ERROR(make_new());
    const std::uint64_t begin = header_blocks_ + current_->blocks;
    run = {(current_->number << superblock_shift_) + begin,
           std::min({run.blocks, room_of(*current_), format::kMostRun})};
    memory = current_->memory.get() + (begin << block_shift_);
    return {};
  }
  // Assigns the run that find_room() returned last to `vp`, from block `index` of its IB segment on. The caller writes
  // all of its memory, before or after. `bytes`: of the stream from that block on; those behind the run do not count.
  void take(format::BlockRun run, std::uint64_t vp, std::uint64_t index, std::uint64_t bytes) {
    const auto blocks = static_cast<std::uint32_t>(run.blocks);
    const std::uint64_t most = run.blocks << block_shift_;
    add_row({vp, index, 1, blocks, current_->blocks, static_cast<std::uint32_t>(std::min(bytes, most))});
    current_->blocks += blocks;
    current_->partial += bytes < most ? 1 : 0;
  }
  // The blocks that take() took last are copies of blocks of an earlier session.
  void mark_copies() { current_->has_copies = true; }
  // Whether the blocks of a run may be changed: they are of this session.
  bool may_change(format::BlockRun run) const {
    return run.address >> superblock_shift_ >= setup_.meta.end_of_superblocks;
  }
  // The blocks of a run. `change`: the caller writes to them. Valid until the next call.
  Result<std::byte*> blocks(format::BlockRun run, bool change) {
    const std::uint64_t number = run.address >> superblock_shift_;
    Superblock* superblock = cache_.find(number);
    if (superblock == nullptr) [[unlikely]] {
      TW_ASSIGN_OR_RETURN(superblock, load(number));
    }
    const std::uint64_t first = run.address - (number << superblock_shift_) - header_blocks_;
    if (first > superblock->blocks || run.blocks > superblock->blocks - first) [[unlikely]]
      return no_such_blocks(number);
    if (change && first < superblock->seal.blocks()) mark_changed(*superblock, first, run.blocks);
    return superblock->memory.get() + ((header_blocks_ + first) << block_shift_);
  }
  // Reserves memory in a batch for a piece: `bytes` bytes of `vp`, from byte `begin` of its IB segment on. The caller
  // fills it before the next call. A batch ends where the next piece does not fit, or before any other blocks.
  Status add_piece(std::uint64_t vp, std::uint64_t begin, std::uint64_t bytes, std::byte*& memory) {
    if (open_batch_.is_empty() || !open_batch_.has_room(vp, begin, bytes)) [[unlikely]]
      TW_RETURN_IF_ERROR(begin_batch(vp, begin, bytes));
    memory = open_batch_.add(vp, begin, bytes);
    return {};
  }
  void end_batch();
  // Adds a row with the length of `vp`, `bytes` in the IB segment, for blocks that exist already.
  Status add_length(std::uint64_t vp, std::uint64_t bytes);
  // Stores and seals all dirty superblocks. After a failure it may be called again.
  Status flush() { return store_up_to(kNoPage); }

  std::uint64_t end() const { return end_; }    // all numbers made here are lower
  std::uint64_t made() const { return made_; }  // number of superblocks made and stored here
  // Something was synced: all superblocks are stored together from now on, with few syncs.
  void set_durable() {
    durable_ = true;
    cache_.grow_to_most();
  }

 private:
  struct Superblock {
    explicit Superblock(std::unique_ptr<std::byte[]> image = {}) : memory(std::move(image)) {}
    std::uint64_t number = kNoPage;
    bool used = false;
    std::unique_ptr<std::byte[]> memory;
    format::FillSlot seal;  // as stored; count 0: not stored yet
    std::uint32_t rows = 0;
    std::uint32_t blocks = 0;
    std::uint32_t changed_begin = 0;  // blocks, of those that are sealed
    std::uint32_t changed_end = 0;
    std::uint32_t previous_rows = 0;  // of the superblock that was made before it
    std::uint32_t partial = 0;        // blocks that were not full when they were taken
    bool has_copies = false;          // copies of blocks of earlier sessions that are not sealed yet
    bool is_changed() const { return changed_end > changed_begin; }
    bool dirty() const { return seal.bytes != format::rows_and_blocks(rows, blocks) || is_changed(); }
  };

  std::span<std::byte> image_of(const Superblock& superblock) const {
    return {superblock.memory.get(), setup_.meta.geometry.superblock_bytes};
  }
  format::SuperblockHeader header_of(const Superblock& superblock) const {
    const std::uint64_t number = superblock.number;
    const bool first = number - setup_.meta.end_of_superblocks < setup_.tasks;
    return {setup_.meta.id,
            number,
            setup_.meta.session,
            superblock.previous_rows,
            first ? number : number - setup_.tasks,
            setup_.meta.superblocks,
            setup_.meta.geometry};
  }
  std::uint64_t offset_of(const Superblock& superblock) const {
    return superblock.number * setup_.meta.geometry.superblock_bytes;
  }
  // Blocks that fit beside one more row of the table.
  std::uint64_t room_of(const Superblock& superblock) const {
    const std::uint64_t rows_end = format::kRowBytes * (superblock.rows + std::uint64_t{1});
    const std::uint64_t blocks = (setup_.meta.geometry.superblock_bytes - rows_end) >> block_shift_;
    const std::uint64_t used = header_blocks_ + superblock.blocks;
    return blocks > used ? blocks - used : 0;
  }
  Status begin_batch(std::uint64_t vp, std::uint64_t begin, std::uint64_t bytes);
  Result<Superblock*> make_room(std::uint64_t number);
  Result<Superblock*> place_for_new(std::uint64_t number);
  Status make_new();
  Result<Superblock*> load(std::uint64_t number);
  Status no_such_blocks(std::uint64_t number) const;
  void mark_changed(Superblock& superblock, std::uint64_t first, std::uint64_t blocks);
  Status store(std::span<Superblock* const> superblocks);
  Status store_up_to(std::uint64_t last);
  Status sync_before_update(std::uint64_t last);
  Status announce_change(Superblock& superblock);
  Status store_content(Superblock& superblock);
  Status seal(Superblock& superblock);
  Status write_seal(Superblock& superblock, const format::FillSlot& seal);
  Status order_on_storage() { return durable_ ? setup_.data->sync() : Status{}; }
  Status write(const Superblock& superblock, std::uint64_t from, std::uint64_t to) {
    return setup_.data->write(offset_of(superblock) + from, image_of(superblock).subspan(from, to - from));
  }
  // Extends the last row, unless it is sealed, where the new row follows it: with the next VP, or the next blocks of
  // its VP.
  bool extend_last_row(const format::SuperblockRow& row) {
    if (current_->rows == current_->seal.rows() || row.is_batch()) return false;
    format::SuperblockRow& last = last_row_;
    if (row.vp == last.vp + last.n && row.index == last.index && row.blocks == last.blocks && row.bytes == last.bytes) {
      ++last.n;
      return true;
    }
    const bool follows = row.blocks != 0 && last.blocks != 0 && last.n == 1 && row.vp == last.vp &&
                         row.index == last.index + last.blocks &&
                         last.bytes == std::uint64_t{last.blocks} << block_shift_;
    if (!follows) return false;
    last.blocks += row.blocks;
    last.bytes += row.bytes;
    return true;
  }
  void add_row(const format::SuperblockRow& row) {
    if (!extend_last_row(row)) {
      last_row_ = row;
      ++current_->rows;
    }
    encode_row(last_row_,
               image_of(*current_).subspan(row_offset(setup_.meta.geometry, current_->rows - 1), format::kRowBytes));
  }

  SegmentSetup setup_;
  int block_shift_;
  std::uint64_t header_blocks_;
  int superblock_shift_;  // of numbers of blocks
  std::uint64_t next_;    // superblock to be made
  std::uint64_t end_ = 0;
  std::uint64_t made_ = 0;
  bool durable_ = false;
  bool ordered_ = false;                          // all seals from before durable_ was set have been synced
  std::uint64_t unsynced_copies_from_ = kNoPage;  // first superblock with stored copies of blocks of earlier sessions
  VpPageCache<Superblock> cache_;
  Superblock* current_ = nullptr;   // the superblock being filled
  std::uint32_t full_rows_ = 0;     // rows of the superblock filled last
  format::SuperblockRow last_row_;  // of current_
  BatchList& batches_;              // of this session
  OpenBatch open_batch_;            // behind the blocks of current_
};

}  // namespace thalweg
