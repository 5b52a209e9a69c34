// SuperblockStore: the superblocks of a vpfile that one task writes, and those that it reads: a cache of them, found by
// their numbers, that never gets larger than it may, and grows only where what had to go is asked for again: who goes
// through a file once needs few, which stay in the core's cache.
//
// What is added to a superblock, and what is changed in it, stays in memory until its place is needed or flush() is
// called. Then it is stored in the order that section 3 of docs/format/vpfile.md asks for, so that what was sealed
// stays true:
//
//   1. where sealed blocks were changed: a seal that says "updating" (and reaches the storage, if something was
//   synced),
//      then those blocks
//   2. blocks and rows that were added
//   3. the seal of all that; of a new superblock the header with it
//
// One call at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "storage/backend.hpp"
#include "vpfile/format/directory.hpp"
#include "vpfile/format/superblock.hpp"
#include "vpfile/streams/recent.hpp"

namespace thalweg {

class SuperblockStore {
 public:
  struct Setup {
    StoredFile* file = nullptr;
    format::VpIdentity id{};
    format::VpGeometry geometry;
    std::uint64_t session = 1;
    std::uint64_t sealed = 0;  // numbers of earlier sessions are lower: they are not changed
    std::uint64_t next = 0;    // number of the first one that this task makes, the others follow
    std::uint64_t step = 1;    //   in these steps
    std::uint64_t cache_bytes = 0;
  };
  explicit SuperblockStore(const Setup& setup);

  // Where new blocks go: as many of `blocks` as there is room for, at least one. Good until the next call.
  struct Room {
    format::BlockRun run;
    std::byte* memory = nullptr;
  };
  Result<Room> find_room(std::uint64_t blocks);
  // Takes what find_room() gave last, for `vp` from block `index` of its IB segment on. The caller writes all of the
  // memory, before or after; the stream has `bytes` bytes there, or more, which do not count.
  void take(const Room& room, std::uint64_t vp, std::uint64_t index, std::uint64_t bytes) {
    take_from(slots_[current_], vp, index, room.run.blocks, std::min(bytes, room.run.blocks << block_shift_));
  }
  // The same for all `blocks`, where the superblock that is being filled has room for them; else null and nothing done.
  std::byte* take_at_hand(std::uint64_t vp, std::uint64_t index, std::uint64_t blocks, std::uint64_t bytes,
                          format::BlockRun& run);
  // Whether the blocks of a run may be changed: they are of this session.
  bool may_change(format::BlockRun run) const { return run.address >> superblock_shift_ >= setup_.sealed; }
  // The blocks of a run. `change`: the caller writes to them. Good until the next call.
  Result<std::byte*> blocks(format::BlockRun run, bool change);
  // The same, only to read, where they are in a superblock of late calls; else null.
  const std::byte* blocks_at_hand(format::BlockRun run) {
    const std::uint64_t number = run.address >> superblock_shift_;
    Slot* slot = recent_.find(slots_, number);
    if (slot == nullptr) return nullptr;
    slot->used = true;
    const std::uint64_t first = run.address - (number << superblock_shift_) - header_blocks_;
    const bool there = first <= slot->blocks && run.blocks <= slot->blocks - first;
    return there ? slot->image.data() + ((header_blocks_ + first) << block_shift_) : nullptr;
  }
  // One block of this session, to be changed; null also where that would have to be noted first.
  std::byte* block_to_change_at_hand(std::uint64_t address);
  // That the stream of `vp` has `bytes` bytes in the IB segment, in blocks that are there already.
  Status tell(std::uint64_t vp, std::uint64_t bytes);
  // All is stored and sealed. What failed may be tried again.
  Status flush();

  std::uint64_t end() const { return end_; }  // all numbers made here are lower
  void set_durable();

 private:
  struct Slot {
    std::uint64_t number = std::numeric_limits<std::uint64_t>::max();
    std::unique_ptr<std::byte[]> memory;  // of a superblock; not touched before it is needed
    std::span<std::byte> image;
    format::Seal seal;  // as stored; turn 0: nothing is
    std::uint32_t rows = 0;
    std::uint32_t blocks = 0;
    std::uint32_t changed_begin = 0;  // blocks, of those that are sealed
    std::uint32_t changed_end = 0;
    std::uint32_t partial = 0;  // blocks that were not full when they were taken
    bool used = false;          // since the last round of the clock
    bool is_changed() const { return changed_end > changed_begin; }
    bool dirty() const { return seal.rows != rows || seal.blocks != blocks || is_changed(); }
  };

  format::SuperblockHeader header_of(const Slot& slot) const {
    return {setup_.id, slot.number, setup_.session, setup_.geometry};
  }
  std::uint64_t offset_of(const Slot& slot) const { return slot.number * setup_.geometry.superblock_bytes; }
  Result<Slot*> find(std::uint64_t number);
  Result<std::size_t> free_slot();
  Result<std::size_t> slot_behind_current();
  Result<Slot*> current_with_room(std::uint64_t blocks, std::uint64_t rows);
  Status make_new();
  void give_memory(Slot& slot) const;
  void remember_gone(std::uint64_t number);
  Status load(Slot& slot, std::uint64_t number);
  Status store(Slot& slot);
  Status store(std::span<Slot* const> slots);
  Status announce_change(Slot& slot);
  Status store_content(Slot& slot);
  Status seal(Slot& slot);
  Status write_seal(Slot& slot, const format::Seal& seal);
  Status order_on_storage();
  Status store_added(Slot& slot);
  Status write(const Slot& slot, std::uint64_t from, std::uint64_t to);
  bool extends_last_row(const Slot& slot, std::uint64_t vp, std::uint64_t index, std::uint64_t blocks,
                        std::uint64_t bytes, format::SuperblockRow& row) const;
  void add_row(Slot& slot, const format::SuperblockRow& row);
  Room take_from(Slot& slot, std::uint64_t vp, std::uint64_t index, std::uint64_t blocks, std::uint64_t bytes);
  std::uint64_t room_of(const Slot& slot) const {  // blocks, beside a row of the table
    const std::uint64_t end = setup_.geometry.superblock_bytes - format::kRowBytes * (slot.rows + std::uint64_t{1});
    const std::uint64_t blocks = end >> block_shift_;
    const std::uint64_t used = header_blocks_ + slot.blocks;
    return blocks > used ? blocks - used : 0;
  }

  Setup setup_;
  int block_shift_;
  std::uint64_t header_blocks_;
  int superblock_shift_;  // of numbers of blocks
  std::uint64_t turn_;    // of this task: numbers made here are this behind the sealed ones, in steps
  std::uint64_t end_;
  bool durable_ = false;
  std::vector<Slot> slots_;
  std::size_t most_slots_;  // there may be
  std::size_t slots_now_;   // there may be now
  std::size_t hand_ = 0;
  std::set<std::uint64_t> waiting_;         // numbers below the current one of what is to be stored, and maybe others
  std::unordered_set<std::uint64_t> gone_;  // numbers of some that had to make room
  std::unordered_map<std::uint64_t, std::size_t> slot_of_;
  static constexpr std::size_t kNone = ~std::size_t{0};
  std::size_t current_ = kNone;  // that is being filled
  Recent recent_;
  format::SuperblockRow last_row_;  // of the current one
};

inline std::byte* SuperblockStore::take_at_hand(std::uint64_t vp, std::uint64_t index, std::uint64_t blocks,
                                                std::uint64_t bytes, format::BlockRun& run) {
  if (current_ == kNone || blocks > format::kMostRun || room_of(slots_[current_]) < blocks) return nullptr;
  const Room room = take_from(slots_[current_], vp, index, blocks, bytes);
  run = room.run;
  return room.memory;
}

inline std::byte* SuperblockStore::block_to_change_at_hand(std::uint64_t address) {
  const std::uint64_t number = address >> superblock_shift_;
  if (number < setup_.sealed) return nullptr;
  Slot* slot = recent_.find(slots_, number);
  if (slot == nullptr) return nullptr;
  const std::uint64_t block = address - (number << superblock_shift_) - header_blocks_;
  if (block >= slot->blocks) return nullptr;
  if (block < slot->seal.blocks) {
    if (!slot->is_changed()) return nullptr;
    slot->changed_begin = std::min(slot->changed_begin, static_cast<std::uint32_t>(block));
    slot->changed_end = std::max(slot->changed_end, static_cast<std::uint32_t>(block) + 1);
  }
  slot->used = true;
  return slot->image.data() + ((header_blocks_ + block) << block_shift_);
}

inline SuperblockStore::Room SuperblockStore::take_from(Slot& slot, std::uint64_t vp, std::uint64_t index,
                                                        std::uint64_t blocks, std::uint64_t bytes) {
  const std::uint64_t begin = header_blocks_ + slot.blocks;
  format::SuperblockRow row;
  if (extends_last_row(slot, vp, index, blocks, bytes, row)) {
    --slot.rows;
  } else {
    row = {vp, index, 1, static_cast<std::uint32_t>(blocks), slot.blocks, static_cast<std::uint32_t>(bytes)};
  }
  add_row(slot, row);
  slot.blocks += static_cast<std::uint32_t>(blocks);
  slot.partial += (blocks << block_shift_) != bytes ? 1 : 0;
  slot.used = true;
  return {{(slot.number << superblock_shift_) + begin, blocks}, slot.image.data() + (begin << block_shift_)};
}

}  // namespace thalweg
