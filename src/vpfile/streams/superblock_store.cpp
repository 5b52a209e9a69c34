#include "vpfile/streams/superblock_store.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "base/size_units.hpp"

namespace thalweg {

using format::BlockRun;
using format::SuperblockRow;

namespace {

constexpr std::size_t kLeastSlots = 4;
constexpr std::size_t kMostGone = 4096;
constexpr std::uint32_t kFewPartial = 4;   // a fourth of the blocks
constexpr std::uint64_t kOneWrite = 4096;  // a gap that is written rather than spend another call

}  // namespace

SuperblockStore::SuperblockStore(const Setup& setup)
    : setup_(setup),
      block_shift_(std::countr_zero(setup.geometry.block_bytes)),
      header_blocks_(setup.geometry.header_blocks()),
      superblock_shift_(std::countr_zero(setup.geometry.superblock_bytes) - block_shift_),
      turn_((setup.next - setup.sealed) % setup.step),
      end_(0),
      most_slots_(std::max<std::size_t>(kLeastSlots, setup.cache_bytes / setup.geometry.superblock_bytes)),
      slots_now_(kLeastSlots) {}

void SuperblockStore::give_memory(Slot& slot) const {
  if (slot.memory != nullptr) return;
  const std::size_t bytes = setup_.geometry.superblock_bytes;
  slot.memory = std::make_unique_for_overwrite<std::byte[]>(bytes);
  slot.image = {slot.memory.get(), bytes};
}

void SuperblockStore::remember_gone(std::uint64_t number) {
  if (gone_.size() >= kMostGone) gone_.clear();
  gone_.insert(number);
}

Status SuperblockStore::write(const Slot& slot, std::uint64_t from, std::uint64_t to) {
  return setup_.file->write(offset_of(slot) + from, slot.image.subspan(from, to - from));
}

Status SuperblockStore::write_seal(Slot& slot, const format::Seal& seal) {
  const auto bytes = encode_seal(seal, header_of(slot));
  TW_RETURN_IF_ERROR(setup_.file->write(offset_of(slot) + seal.offset(), bytes));
  slot.seal = seal;
  return {};
}

// That what is sealed will be overwritten.
Status SuperblockStore::announce_change(Slot& slot) {
  format::Seal seal = slot.seal;
  ++seal.turn;
  seal.updating = true;
  seal.ordered = durable_;
  return write_seal(slot, seal);
}

Status SuperblockStore::store_added(Slot& slot) {
  const format::VpGeometry& geometry = setup_.geometry;
  const std::uint64_t begin = block_offset(geometry, slot.seal.blocks);
  const std::uint64_t end = block_offset(geometry, slot.blocks);
  const std::uint64_t rows_begin = geometry.superblock_bytes - format::kRowBytes * std::uint64_t{slot.rows};
  const std::uint64_t rows_end = geometry.superblock_bytes - format::kRowBytes * std::uint64_t{slot.seal.rows};
  if (slot.seal.turn == 0 && rows_begin - end <= kOneWrite && begin <= kOneWrite) {
    std::memset(slot.image.data(), 0, begin);  // the header comes when the rest is there
    std::memset(slot.image.data() + end, 0, rows_begin - end);
    return write(slot, 0, rows_end);
  }
  if (end > begin) TW_RETURN_IF_ERROR(write(slot, begin, end));
  return rows_end > rows_begin ? write(slot, rows_begin, rows_end) : Status{};
}

Status SuperblockStore::store_content(Slot& slot) {
  const format::VpGeometry& geometry = setup_.geometry;
  if (slot.is_changed())
    TW_RETURN_IF_ERROR(
        write(slot, block_offset(geometry, slot.changed_begin), block_offset(geometry, slot.changed_end)));
  return store_added(slot);
}

// Of content that is stored.
Status SuperblockStore::seal(Slot& slot) {
  format::Seal seal = slot.seal;
  const bool fresh = seal.turn == 0;
  ++seal.turn;
  seal.updating = false;
  seal.ordered = durable_;
  seal.rows = slot.rows;
  seal.blocks = slot.blocks;
  seal.table_crc = table_crc(slot.image, setup_.geometry, slot.rows);
  seal.block_crc = block_crc(slot.image, setup_.geometry, slot.blocks);
  if (fresh) {
    const auto header = encode_superblock_header(header_of(slot));
    const auto bytes = encode_seal(seal, header_of(slot));
    std::ranges::fill(slot.image.first(format::kSuperblockHeader), std::byte{0});
    std::ranges::copy(header, slot.image.begin());
    std::ranges::copy(bytes, slot.image.begin() + static_cast<std::ptrdiff_t>(seal.offset()));
    TW_RETURN_IF_ERROR(write(slot, 0, format::kSuperblockHeader));
    slot.seal = seal;
  } else {
    TW_RETURN_IF_ERROR(write_seal(slot, seal));
  }
  slot.changed_begin = slot.changed_end = 0;
  return {};
}

// Where something was synced, a seal must not reach the storage before what it seals, nor content before the seal that
// announces it.
Status SuperblockStore::order_on_storage() { return durable_ ? setup_.file->sync() : Status{}; }

// Those that are dirty, in the order of their numbers.
Status SuperblockStore::store(std::span<Slot* const> slots) {
  bool changed = false;
  for (Slot* slot : slots) {
    if (!slot->is_changed()) continue;
    TW_RETURN_IF_ERROR(announce_change(*slot));
    changed = true;
  }
  if (changed) TW_RETURN_IF_ERROR(order_on_storage());
  for (Slot* slot : slots) TW_RETURN_IF_ERROR(store_content(*slot));
  if (!slots.empty()) TW_RETURN_IF_ERROR(order_on_storage());
  for (Slot* slot : slots) {
    TW_RETURN_IF_ERROR(seal(*slot));
    waiting_.erase(slot->number);
  }
  return {};
}

// What goes before it in streams first: where the process dies in between, no stream has a gap that nobody made.
Status SuperblockStore::store(Slot& slot) {
  if (!slot.dirty()) return {};
  std::vector<Slot*> all;
  for (const std::uint64_t number : waiting_) {
    if (number >= slot.number) break;
    const auto place = slot_of_.find(number);
    if (place != slot_of_.end() && slots_[place->second].dirty()) all.push_back(&slots_[place->second]);
  }
  all.push_back(&slot);
  return store(all);
}

Status SuperblockStore::flush() {
  std::vector<Slot*> all;
  for (Slot& slot : slots_)
    if (slot.dirty()) all.push_back(&slot);
  std::ranges::sort(all, {}, [](const Slot* slot) { return slot->number; });
  return store(all);
}

// A place for a superblock: a new one, or that of one that was not asked for lately. The current one stays.
Result<std::size_t> SuperblockStore::free_slot() {
  if (slots_.size() < slots_now_) {
    slots_.emplace_back();
    return slots_.size() - 1;
  }
  for (;; ++hand_) {
    const std::size_t i = hand_ % slots_.size();
    Slot& slot = slots_[i];
    if (i == current_) continue;
    if (slot.used) {
      slot.used = false;
      continue;
    }
    TW_RETURN_IF_ERROR(durable_ ? flush() : store(slot));
    ++hand_;
    remember_gone(slot.number);
    slot_of_.erase(slot.number);
    slot.number = std::numeric_limits<std::uint64_t>::max();
    return i;
  }
}

Status SuperblockStore::load(Slot& slot, std::uint64_t number) {
  give_memory(slot);
  const std::uint64_t offset = number * setup_.geometry.superblock_bytes;
  TW_ASSIGN_OR_RETURN(const std::size_t got, setup_.file->read(offset, slot.image));
  std::fill(slot.image.begin() + static_cast<std::ptrdiff_t>(got), slot.image.end(), std::byte{0});
  auto found = parse_superblock(slot.image, setup_.id, number, setup_.geometry);
  if (!found.has_value()) return found.error().with_context("'" + setup_.file->path() + "'");
  const format::ParsedSuperblock& parsed = found.value();
  if (parsed.blocks == format::Wholeness::damaged)
    return Status::error(Code::corrupt_file, "'" + setup_.file->path() + "': superblock " + std::to_string(number) +
                                                 ": the checksum of its blocks does not match");
  slot.seal = parsed.seal;
  slot.rows = parsed.seal.rows;
  slot.blocks = parsed.seal.blocks;
  slot.changed_begin = slot.changed_end = 0;
  return {};
}

Result<SuperblockStore::Slot*> SuperblockStore::find(std::uint64_t number) {
  if (Slot* slot = recent_.find(slots_, number); slot != nullptr) {
    slot->used = true;
    return slot;
  }
  const auto known = slot_of_.find(number);
  std::size_t place = 0;
  if (known != slot_of_.end()) {
    place = known->second;
  } else {
    if (gone_.erase(number) != 0) slots_now_ = std::min(most_slots_, 2 * slots_now_);
    TW_ASSIGN_OR_RETURN(place, free_slot());
    slots_[place].number = std::numeric_limits<std::uint64_t>::max();
    slots_[place].rows = slots_[place].blocks = 0;
    slots_[place].seal = {};
    TW_RETURN_IF_ERROR(load(slots_[place], number));
    slot_of_.emplace(number, place);
    slots_[place].number = number;  // now that nothing can fail
  }
  recent_.note(number, place);
  slots_[place].used = true;
  return &slots_[place];
}

// Where something was synced all are stored together, with few syncs.
void SuperblockStore::set_durable() {
  durable_ = true;
  slots_now_ = most_slots_;
}

// Where the next one to be filled goes. One whose blocks are nearly all full will hardly be asked for soon: it is
// stored while it is in the core's cache, and its memory used again.
Result<std::size_t> SuperblockStore::slot_behind_current() {
  if (current_ != kNone && slots_[current_].dirty()) waiting_.insert(slots_[current_].number);
  const std::size_t before = std::exchange(current_, kNone);
  if (durable_ || before == kNone || slots_[before].partial > slots_[before].blocks / kFewPartial) return free_slot();
  Slot& slot = slots_[before];
  TW_RETURN_IF_ERROR(store(slot));
  remember_gone(slot.number);
  slot_of_.erase(slot.number);
  return before;
}

Status SuperblockStore::make_new() {
  const std::uint64_t number = setup_.next;
  if (number >= kMostOffset / setup_.geometry.superblock_bytes)
    return Status::error(Code::out_of_range, "'" + setup_.file->path() + "' would end above 2^63-1");
  TW_ASSIGN_OR_RETURN(const std::size_t place, slot_behind_current());
  Slot& slot = slots_[place];
  slot.number = std::numeric_limits<std::uint64_t>::max();
  give_memory(slot);
  slot.seal = {};
  slot.rows = slot.blocks = slot.changed_begin = slot.changed_end = slot.partial = 0;
  slot_of_.emplace(number, place);
  slot.number = number;
  setup_.next += setup_.step;
  end_ = number + 1;
  current_ = place;
  recent_.note(number, place);
  return {};
}

Result<SuperblockStore::Slot*> SuperblockStore::current_with_room(std::uint64_t blocks, std::uint64_t rows) {
  if (current_ != kNone) {
    Slot& slot = slots_[current_];
    if (has_room(setup_.geometry, slot.blocks + blocks, slot.rows + rows)) return &slot;
  }
  TW_RETURN_IF_ERROR(make_new());
  return &slots_[current_];
}

void SuperblockStore::add_row(Slot& slot, const SuperblockRow& row) {
  last_row_ = row;
  encode_row(row, slot.image.subspan(row_offset(setup_.geometry, slot.rows), format::kRowBytes));
  ++slot.rows;
}

bool SuperblockStore::extends_last_row(const Slot& slot, std::uint64_t vp, std::uint64_t index, std::uint64_t blocks,
                                       std::uint64_t bytes, SuperblockRow& row) const {
  if (slot.rows == slot.seal.rows) return false;  // what is sealed does not change
  row = last_row_;
  const std::uint64_t full = std::uint64_t{row.blocks} << block_shift_;
  if (vp == row.vp + row.n && index == row.index && blocks == row.blocks && bytes == row.bytes) {
    ++row.n;
    return true;
  }
  if (blocks == 0 || row.blocks == 0 || row.n != 1 || vp != row.vp || index != row.index + row.blocks ||
      row.bytes != full)
    return false;
  row.blocks += static_cast<std::uint32_t>(blocks);
  row.bytes += static_cast<std::uint32_t>(bytes);
  return true;
}

Result<SuperblockStore::Room> SuperblockStore::find_room(std::uint64_t blocks) {
  TW_ASSIGN_OR_RETURN(Slot * slot, current_with_room(1, 1));
  const std::uint64_t n = std::min({blocks, room_of(*slot), format::kMostRun});
  const std::uint64_t begin = header_blocks_ + slot->blocks;
  return Room{{(slot->number << superblock_shift_) + begin, n}, slot->image.data() + (begin << block_shift_)};
}

Status SuperblockStore::tell(std::uint64_t vp, std::uint64_t bytes) {
  const std::uint64_t index = bytes >> block_shift_;
  const std::uint64_t rest = bytes - (index << block_shift_);
  TW_ASSIGN_OR_RETURN(Slot * slot, current_with_room(0, 1));
  SuperblockRow row;
  if (extends_last_row(*slot, vp, index, 0, rest, row)) {
    --slot->rows;
  } else {
    row = {vp, index, 1, 0, 0, static_cast<std::uint32_t>(rest)};
  }
  add_row(*slot, row);
  return {};
}

Result<std::byte*> SuperblockStore::blocks(BlockRun run, bool change) {
  const std::uint64_t number = run.address >> superblock_shift_;
  const std::uint64_t within = run.address - (number << superblock_shift_);
  // What is not in use would be overwritten by new ones, and those of other tasks are not there yet.
  const bool in_use = number < setup_.sealed || (number < end_ && (number - setup_.sealed) % setup_.step == turn_);
  if (!in_use)
    return Status::error(Code::corrupt_file, "'" + setup_.file->path() + "': a pointer names superblock " +
                                                 std::to_string(number) + ", which is behind the last one");
  TW_ASSIGN_OR_RETURN(Slot * slot, find(number));
  const bool there = within >= header_blocks_ && within - header_blocks_ <= slot->blocks &&
                     run.blocks <= slot->blocks - (within - header_blocks_);
  if (!there)
    return Status::error(Code::corrupt_file, "'" + setup_.file->path() + "': a pointer names blocks that superblock " +
                                                 std::to_string(number) + " does not have");
  const auto first = static_cast<std::uint32_t>(within - header_blocks_);
  const auto sealed_end = std::min(first + static_cast<std::uint32_t>(run.blocks), slot->seal.blocks);
  if (change && first < sealed_end) {
    const bool none = slot->changed_end == slot->changed_begin;
    if (none) waiting_.insert(number);
    slot->changed_begin = none ? first : std::min(slot->changed_begin, first);
    slot->changed_end = none ? sealed_end : std::max(slot->changed_end, sealed_end);
  }
  return slot->image.data() + (within << block_shift_);
}

}  // namespace thalweg
