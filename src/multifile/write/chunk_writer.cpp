#include "multifile/write/chunk_writer.hpp"

#include <algorithm>
#include <cstring>

#include "base/endian.hpp"

namespace thalweg {

namespace {

// Seal and copy go block by block, so that the kernel finds in cache what the seal just read.
constexpr std::uint64_t kBlockBytes = 1 << 20;
constexpr std::uint64_t kHeadStart = format::kFillSlotOffset[0];
constexpr std::uint64_t kTableInHead = format::kChecksumTableOffset - kHeadStart;

}  // namespace

ChunkWriter::ChunkWriter(PhysicalWriter& physical, const format::Frame& frame,
                         const std::shared_ptr<DirectWrites>& direct)
    : physical_(physical), frame_(frame), direct_(direct), tail_(physical.header().checksum), head_(kTableInHead) {
  if (direct_ != nullptr)
    direct_->write_behind(physical.file(), frame.offset, format::encode_frame(frame, physical.header().id));
}

void ChunkWriter::seal(std::span<const std::byte> block) {
  const std::uint64_t granule = physical_.header().granule;
  std::uint64_t at = filled_;
  while (!block.empty()) {
    const std::uint64_t n = std::min<std::uint64_t>(block.size(), granule - at % granule);
    tail_.add(block.first(n));
    at += n;
    block = block.subspan(n);
    if (at % granule != 0) continue;
    head_.resize(head_.size() + sizeof(std::uint32_t));
    store_le(std::span(head_).last(sizeof(std::uint32_t)), tail_.value());
    tail_.begin_granule();
  }
}

// Direct writes into blocks that exist need no lock of the file. But reserving waits for all direct writes of the file,
// so the whole chunk, up to 1 GiB, is reserved at once. Where so much is not free, that reservation is released, since it
// keeps the blocks it got, and only the blocks for this write are reserved.
Status ChunkWriter::reserve(std::uint64_t end) {
  constexpr std::uint64_t kMostAtOnce = 1 << 30;
  if (end <= reserved_) return {};
  StoredFile& file = physical_.file();
  std::uint64_t to = std::min(frame_.capacity(), std::max(end, reserved_ + kMostAtOnce));
  Status status = file.preallocate(frame_.data() + reserved_, to - reserved_);
  if (!status.ok()) {
    (void)file.release(frame_.data() + reserved_, to - reserved_).ok();
    to = end;
    status = file.preallocate(frame_.data() + reserved_, to - reserved_);
  }
  if (status.ok()) reserved_ = to;
  return status;
}

void ChunkWriter::give_back() {
  const std::uint64_t kept = format::align_up(filled_, format::kPageBytes);
  if (kept < reserved_) (void)physical_.file().release(frame_.data() + kept, reserved_ - kept).ok();
  reserved_ = std::min(kept, reserved_);
}

Status ChunkWriter::write_data(std::span<const std::byte> block) {
  const std::uint64_t offset = frame_.data() + filled_;
  if (direct_ == nullptr) return physical_.write_data(offset, block);
  TW_RETURN_IF_ERROR(reserve(filled_ + block.size()));
  return direct_->write(physical_.file(), offset, block);
}

Result<std::size_t> ChunkWriter::append(std::span<const std::byte> data) {
  data = data.first(std::min<std::uint64_t>(data.size(), room()));
  const std::size_t total = data.size();
  while (!data.empty()) {
    const std::uint64_t block_bytes = std::min<std::uint64_t>(data.size(), kBlockBytes - logical_end() % kBlockBytes);
    const auto block = data.first(block_bytes);
    const format::DataSeal seal_before = tail_;
    const std::size_t head_before = head_.size();
    seal(block);
    if (Status status = write_data(block); !status.ok()) {
      tail_ = seal_before;  // nothing of this block counts
      head_.resize(head_before);
      return status;
    }
    filled_ += block_bytes;
    data = data.subspan(block_bytes);
  }
  return total;
}

Status ChunkWriter::publish(bool by_sync) {
  if (newest_ >= 0 && published_ == filled_ && (published_by_sync_ || !by_sync)) return {};
  const int slot = pinned_ < 0 ? (newest_ < 0 ? 0 : newest_) : 1 - pinned_;
  const format::FillSlot fill{filled_, count_ + 1, tail_.value(), by_sync};
  const std::uint64_t offset = frame_.offset + format::kFillSlotOffset[slot];
  const auto bytes = format::encode_fill(fill, physical_.header().id, offset);
  std::memcpy(head_.data() + format::kFillSlotOffset[slot] - kHeadStart, bytes.data(), bytes.size());
  TW_RETURN_IF_ERROR(write_table_and_slots());
  newest_ = slot;
  ++count_;
  published_ = filled_;
  published_by_sync_ = by_sync;
  return {};
}

void ChunkWriter::pin(const std::shared_ptr<const AccessRequest>& sync) {
  if (sync == nullptr) {
    syncing_.reset();
    pinned_ = newest_;
  } else if (may_grow() && pinned_ != newest_) {
    syncing_ = sync;
  }
}

bool ChunkWriter::may_grow() {
  if (syncing_ != nullptr && syncing_->done() && syncing_->outcome().status.ok()) pin(nullptr);
  return syncing_ == nullptr;
}

Status ChunkWriter::write_head(std::uint64_t offset, std::span<const std::byte> bytes) {
  if (direct_ == nullptr) return physical_.file().write(offset, bytes);
  direct_->write_behind(physical_.file(), offset, bytes);
  return {};
}

Status ChunkWriter::write_table_and_slots() {
  const std::uint64_t granules = (head_.size() - kTableInHead) / sizeof(std::uint32_t);
  const std::uint64_t head_offset = frame_.offset + kHeadStart;
  if (head_offset % format::kPageBytes + head_.size() <= format::kPageBytes && granules != table_written_) {
    TW_RETURN_IF_ERROR(write_head(head_offset, head_));  // one page: not torn, order does not matter
  } else {
    const std::uint64_t from = kTableInHead + table_written_ * sizeof(std::uint32_t);
    if (granules != table_written_) TW_RETURN_IF_ERROR(write_head(head_offset + from, std::span(head_).subspan(from)));
    TW_RETURN_IF_ERROR(write_head(head_offset, std::span(head_).first(kTableInHead)));
  }
  table_written_ = granules;
  return {};
}

format::PieceEntry ChunkWriter::piece() const {
  format::PieceEntry entry;
  entry.logical_offset = frame_.logical_offset;
  entry.physical_offset = frame_.offset;
  entry.logical_bytes = filled_;
  entry.stored_bytes = filled_;
  entry.kind = format::PieceKind::chunk;
  entry.later = physical_.later();
  return entry;
}

}  // namespace thalweg
