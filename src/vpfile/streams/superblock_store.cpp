#include "vpfile/streams/superblock_store.hpp"

#include <fmt/core.h>

#include <bit>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/size_units.hpp"
#include "store/places.hpp"
#include "vpfile/format/batch.hpp"

namespace thalweg {

using format::SuperblockRow;

namespace {

constexpr std::size_t kLeastSuperblocks = 4;
constexpr std::uint32_t kFewPartial = 4;   // a fourth of the blocks
constexpr std::uint64_t kOneWrite = 4096;  // bytes of a gap that is written rather than spend another call

}  // namespace

SuperblockStore::SuperblockStore(const SegmentSetup& setup, BatchList& batches)
    : setup_(setup),
      block_shift_(std::countr_zero(setup.meta.geometry.block_bytes)),
      header_blocks_(setup.meta.geometry.header_blocks()),
      superblock_shift_(std::countr_zero(setup.meta.geometry.superblock_bytes) - block_shift_),
      next_(setup.meta.end_of_superblocks + setup.task),
      cache_(kLeastSuperblocks, setup.cache_bytes / setup.meta.geometry.superblock_bytes),
      batches_(batches) {}

Status SuperblockStore::write_seal(Superblock& superblock, const format::FillSlot& seal) {
  const auto bytes = encode_seal(seal, header_of(superblock));
  TW_RETURN_IF_ERROR(setup_.data->write(offset_of(superblock) + seal_offset(seal), bytes));
  superblock.seal = seal;
  return {};
}

// Called before updating seals of superblocks up to `last`: syncs earlier seals once the file is durable, and in any
// file stored copies of blocks of earlier sessions.
Status SuperblockStore::sync_before_update(std::uint64_t last) {
  const bool seals_unsynced = durable_ && !ordered_;
  if (!seals_unsynced && last < unsynced_copies_from_) return {};
  TW_RETURN_IF_ERROR(setup_.data->sync());
  ordered_ = durable_;
  unsynced_copies_from_ = kNoPage;
  return {};
}

// Writes an "updating" seal before sealed blocks are overwritten.
Status SuperblockStore::announce_change(Superblock& superblock) {
  format::FillSlot seal = superblock.seal;
  ++seal.count;
  seal.updating = true;
  seal.synced = durable_;
  return write_seal(superblock, seal);
}

// Writes changed blocks, then new blocks and rows. The header of a new superblock follows with its seal.
Status SuperblockStore::store_content(Superblock& superblock) {
  const format::VpGeometry& geometry = setup_.meta.geometry;
  if (superblock.has_copies && !durable_) unsynced_copies_from_ = std::min(unsynced_copies_from_, superblock.number);
  if (superblock.is_changed())
    TW_RETURN_IF_ERROR(write(superblock, block_offset(geometry, superblock.changed_begin),
                             block_offset(geometry, superblock.changed_end)));
  const std::uint64_t begin = block_offset(geometry, superblock.seal.blocks());
  const std::uint64_t end = block_offset(geometry, superblock.blocks);
  const std::uint64_t rows_begin = geometry.superblock_bytes - format::kRowBytes * std::uint64_t{superblock.rows};
  const std::uint64_t rows_end = geometry.superblock_bytes - format::kRowBytes * std::uint64_t{superblock.seal.rows()};
  if (superblock.seal.count == 0 && rows_begin - end <= kOneWrite && begin <= kOneWrite) {
    std::memset(superblock.memory.get(), 0, begin);
    std::memset(superblock.memory.get() + end, 0, rows_begin - end);
    if (setup_.reserves)  // where that fails, the write says why, or succeeds
      (void)setup_.data->preallocate(offset_of(superblock), geometry.superblock_bytes).ok();
    return write(superblock, 0, rows_end);
  }
  if (end > begin) TW_RETURN_IF_ERROR(write(superblock, begin, end));
  return rows_end > rows_begin ? write(superblock, rows_begin, rows_end) : Status{};
}

// Writes the seal; the content is stored already.
Status SuperblockStore::seal(Superblock& superblock) {
  const std::span<std::byte> image = image_of(superblock);
  format::FillSlot seal{.bytes = format::rows_and_blocks(superblock.rows, superblock.blocks),
                        .count = superblock.seal.count + 1,
                        .synced = durable_};
  seal.table_seal = table_crc(image, setup_.meta.geometry, superblock.rows);
  seal.tail_seal = block_crc(image, setup_.meta.geometry, superblock.blocks);
  if (seal.count == 1) {
    const auto header = encode_superblock_header(header_of(superblock));
    const auto bytes = encode_seal(seal, header_of(superblock));
    std::ranges::fill(image.first(format::kSuperblockHeader), std::byte{0});
    std::ranges::copy(header, image.begin());
    std::ranges::copy(bytes, image.begin() + static_cast<std::ptrdiff_t>(seal_offset(seal)));
    TW_RETURN_IF_ERROR(write(superblock, 0, format::kSuperblockHeader));
    superblock.seal = seal;
    ++made_;
  } else {
    TW_RETURN_IF_ERROR(write_seal(superblock, seal));
  }
  superblock.changed_begin = superblock.changed_end = 0;
  superblock.has_copies = false;
  return {};
}

// Stores dirty superblocks, which are in the order of their numbers.
Status SuperblockStore::store(std::span<Superblock* const> superblocks) {
  std::optional<std::uint64_t> last_changed;
  for (const Superblock* superblock : superblocks)
    if (superblock->is_changed()) last_changed = superblock->number;
  if (last_changed.has_value()) {
    TW_RETURN_IF_ERROR(sync_before_update(*last_changed));
    for (Superblock* superblock : superblocks)
      if (superblock->is_changed()) TW_RETURN_IF_ERROR(announce_change(*superblock));
    TW_RETURN_IF_ERROR(order_on_storage());
  }
  for (Superblock* superblock : superblocks) TW_RETURN_IF_ERROR(store_content(*superblock));
  if (!superblocks.empty()) TW_RETURN_IF_ERROR(order_on_storage());
  for (Superblock* superblock : superblocks) TW_RETURN_IF_ERROR(seal(*superblock));
  return {};
}

// Stores the dirty superblocks up to number `last`, those with lower numbers first: if the process dies in between, no
// stream has a gap that was never one.
Status SuperblockStore::store_up_to(std::uint64_t last) {
  if (current_ != nullptr && current_->number <= last) end_batch();
  std::vector<Superblock*> all;
  for (Superblock& superblock : cache_.pages())
    if (superblock.dirty() && superblock.number <= last) all.push_back(&superblock);
  std::ranges::sort(all, {}, [](const Superblock* superblock) { return superblock->number; });
  return store(all);
}

// A place with memory and without content.
Result<SuperblockStore::Superblock*> SuperblockStore::make_room(std::uint64_t number) {
  const auto store_one = [this](Superblock& old) {
    if (durable_) return flush();
    return old.dirty() ? store_up_to(old.number) : Status{};
  };
  TW_ASSIGN_OR_RETURN(Superblock * place, cache_.make_room(number, current_, store_one));
  *place = Superblock(std::move(place->memory));
  if (place->memory == nullptr)
    place->memory = std::make_unique_for_overwrite<std::byte[]>(setup_.meta.geometry.superblock_bytes);
  return place;
}

// A pointer must name a superblock of an earlier session or of this task: new superblocks would overwrite unused ones,
// and those of other tasks may not be stored yet.
Result<SuperblockStore::Superblock*> SuperblockStore::load(std::uint64_t number) {
  const std::string where = fmt::format("'{}'", setup_.data->path());
  const std::uint64_t sealed = setup_.meta.end_of_superblocks;
  const bool made_here = number >= sealed && number < end_ && (number - sealed) % setup_.tasks == setup_.task;
  if (number >= sealed && !made_here)
    return Status::error(Code::corrupt_file, "{}: a pointer names superblock {}, which is behind the last one", where,
                         number);
  TW_ASSIGN_OR_RETURN(Superblock * place, make_room(number));
  const std::span<std::byte> image = image_of(*place);
  TW_RETURN_IF_ERROR(read_padded(*setup_.data, number * image.size(), image));
  const auto found = parse_superblock(image, setup_.meta.id, number, setup_.meta.geometry);
  if (!found.has_value()) return found.error().with_context(where);
  if (found.value().damaged)
    return Status::error(Code::corrupt_file, "{}: superblock {}: the checksum of its blocks does not match", where,
                         number);
  cache_.put(*place, number);
  place->seal = found.value().seal;
  place->rows = place->seal.rows();
  place->blocks = place->seal.blocks();
  return place;
}

// A full superblock with few partial blocks is rarely needed again soon: it is stored while it is in the core's cache,
// and its memory is reused.
Result<SuperblockStore::Superblock*> SuperblockStore::place_for_new(std::uint64_t number) {
  Superblock* const full = std::exchange(current_, nullptr);
  if (full != nullptr && !durable_ && full->partial <= full->blocks / kFewPartial) {
    TW_RETURN_IF_ERROR(store_up_to(full->number));  // it has new rows, so it is dirty
    cache_.drop(*full);
    *full = Superblock(std::move(full->memory));
    return full;
  }
  return make_room(number);
}

Status SuperblockStore::begin_batch(std::uint64_t vp, std::uint64_t begin, std::uint64_t bytes) {
  end_batch();
  if (current_ == nullptr || room_of(*current_) << block_shift_ < bytes + format::kPieceBytes)
    TW_RETURN_IF_ERROR(make_new());
  open_batch_.begin(vp, begin,
                    image_of(*current_).subspan(block_offset(setup_.meta.geometry, current_->blocks),
                                                room_of(*current_) << block_shift_));
  return {};
}

void SuperblockStore::end_batch() {
  if (open_batch_.is_empty()) return;
  const SuperblockRow row = open_batch_.finish(current_->blocks, block_shift_);
  // The table is valid: it was made a line above, of pieces that end below 2^61.
  batches_.add(*batch_of(row, current_->number, image_of(*current_), setup_.meta.geometry));
  add_row(row);
  current_->blocks += row.blocks;
  open_batch_.clear();
}

Status SuperblockStore::make_new() {
  if (next_ >= kMostOffset / setup_.meta.geometry.superblock_bytes)
    return Status::error(Code::out_of_range, "'{}' would end above 2^63-1", setup_.data->path());
  if (current_ != nullptr) full_rows_ = current_->rows;
  TW_ASSIGN_OR_RETURN(Superblock * place, place_for_new(next_));
  place->previous_rows = full_rows_;
  cache_.put(*place, next_);
  current_ = place;
  end_ = next_ + 1;
  next_ += setup_.tasks;
  return {};
}

Status SuperblockStore::add_length(std::uint64_t vp, std::uint64_t bytes) {
  end_batch();
  const bool fits = current_ != nullptr && has_room(setup_.meta.geometry, current_->blocks, current_->rows + 1);
  if (!fits) TW_RETURN_IF_ERROR(make_new());
  const std::uint64_t index = bytes >> block_shift_;
  add_row({vp, index, 1, 0, 0, static_cast<std::uint32_t>(bytes - (index << block_shift_))});
  return {};
}

void SuperblockStore::mark_changed(Superblock& superblock, std::uint64_t first, std::uint64_t blocks) {
  const auto begin = static_cast<std::uint32_t>(first);
  const auto end = std::min(begin + static_cast<std::uint32_t>(blocks), superblock.seal.blocks());
  if (!superblock.is_changed()) {
    superblock.changed_begin = begin;
    superblock.changed_end = end;
    return;
  }
  superblock.changed_begin = std::min(superblock.changed_begin, begin);
  superblock.changed_end = std::max(superblock.changed_end, end);
}

Status SuperblockStore::no_such_blocks(std::uint64_t number) const {
  return Status::error(Code::corrupt_file, "'{}': a pointer names blocks that superblock {} does not have",
                       setup_.data->path(), number);
}

}  // namespace thalweg
