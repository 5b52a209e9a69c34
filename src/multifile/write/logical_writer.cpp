#include "multifile/write/logical_writer.hpp"

#include <algorithm>

#include "base/compress.hpp"
#include "base/crc32c.hpp"

namespace thalweg {

namespace {

constexpr std::uint64_t kSmallBytes = 64 * 1024;  // up to this size data go to a pack unless more is expected
constexpr std::uint64_t kLittle = 1 << 20;        // a logical file below this size is not expected to become large
constexpr std::size_t kFirstBufferBytes = 4096;
constexpr std::uint64_t kLargestAsk = 1 << 30;  // largest chunk for a single write
constexpr std::uint64_t kChunksPerDoubling = 4;
constexpr std::uint64_t kMostDoublings = 5;

// Frames and directory entries name a logical file by its rank, an added one by its number.
constexpr std::uint64_t number_of(std::uint64_t rank, std::uint64_t local) {
  return format::is_added(local) ? local : rank;
}

}  // namespace

// A chunk that grows with the data is cut to what is left of the share of the first physical file; where its size was
// asked for, it goes to the later one as a whole.
Result<PhysicalWriter*> WriterSettings::space_behind(PhysicalWriter& first, std::uint64_t& want) const {
  if (!open_later) return &first;
  const std::uint64_t left = std::max(first_bytes - std::min(first_bytes, first.taken()), kSmallBytes);
  const bool may_cut = chunks_grow && !exact;
  if (first.taken() >= first_bytes || (want > left && !may_cut)) return open_later();
  want = std::min(want, left);
  return &first;
}

LogicalWriter::LogicalWriter(PhysicalWriter& physical, std::uint64_t rank, std::uint64_t local_index,
                             std::uint64_t size, WriterSettings& settings, std::uint32_t sequences)
    : physical_(physical),
      space_(&physical),
      settings_(settings),
      rank_(rank),
      local_index_(local_index),
      old_size_(sequences > 0 ? 0 : size),
      size_(size),
      left_end_(size),
      count_(sequences) {}

std::uint64_t LogicalWriter::next_sequence() const {
  return physical_.session() * format::kSequencePerSession + count_ + 1;
}

// The end of the stored bytes of the logical file. Each piece records it, so that recovery detects when bytes in front
// of a piece never reached the storage.
std::uint64_t LogicalWriter::stored_end() const {
  return chunk_ && chunk_->filled() > 0 ? std::max(left_end_, chunk_->logical_end()) : left_end_;
}

void LogicalWriter::add_piece(const WrittenPiece& piece) {
  if (n_pieces_++ == 0) {
    first_piece_ = piece;
  } else {
    more_pieces_.push_back(piece);
  }
}

// Buffers start small, so that many logical files can have one, and grow up to buffer_bytes.
void LogicalWriter::grow_buffer(std::size_t wanted) {
  if (buffer_.capacity() == 0 && !settings_.spare_buffers.empty()) {
    buffer_ = std::move(settings_.spare_buffers.back());
    settings_.spare_buffers.pop_back();
    settings_.buffered_capacity += buffer_.capacity();
  }
  const std::size_t before = buffer_.capacity();
  if (before >= wanted) return;
  const std::size_t grown = std::min<std::uint64_t>(std::max(4 * before, kFirstBufferBytes), settings_.buffer_bytes);
  buffer_.reserve(std::max(wanted, grown));
  settings_.buffered_capacity += buffer_.capacity() - before;
}

void LogicalWriter::release_buffer() {
  if (buffer_.capacity() == 0) return;
  settings_.buffered_capacity -= buffer_.capacity();
  buffer_.clear();
  constexpr std::size_t kSpares = 4;
  if (settings_.spare_buffers.size() < kSpares) settings_.spare_buffers.push_back(std::move(buffer_));
  buffer_ = {};
}

Status LogicalWriter::write(std::span<const std::byte> data) {
  dirty_ = true;
  if (position_ > format::kMaxOffset - 2 * std::max<std::uint64_t>(settings_.buffer_bytes, ByteBuffer::kAlignment))
    return write_at_the_end(data);
  if (position_ != buffer_start_ + buffer_.size()) {
    TW_RETURN_IF_ERROR(drain(false));
    buffer_start_ = position_;
  }
  while (!data.empty()) {
    const std::uint64_t limit = settings_.buffer_bytes;
    if (buffer_.empty() && data.size() >= limit) {
      TW_RETURN_IF_ERROR(store(position_, data, position_ >= size_ && !behind_gap(position_)));
      position_ += data.size();
      buffer_start_ = position_;
      data = {};
    } else {
      const std::size_t n =
          std::min<std::uint64_t>(data.size(), limit - std::min<std::uint64_t>(limit, buffer_.size()));
      grow_buffer(buffer_.size() + n);
      buffer_.append(data.data(), n);
      position_ += n;
      data = data.subspan(n);
      size_ = std::max(size_, position_);
      if (buffer_.size() >= limit) TW_RETURN_IF_ERROR(drain(!behind_gap(buffer_start_)));
    }
    size_ = std::max(size_, position_);
  }
  return {};
}

// Nothing is buffered near the largest offset: write_buffered() checks the room of the buffer only.
Status LogicalWriter::write_at_the_end(std::span<const std::byte> data) {
  TW_RETURN_IF_ERROR(drain(false));
  release_buffer();
  TW_RETURN_IF_ERROR(store(position_, data, false));
  position_ += data.size();
  buffer_start_ = position_;
  size_ = std::max(size_, position_);
  return {};
}

Status LogicalWriter::drain(bool more) {
  if (buffer_.empty()) return {};
  TW_RETURN_IF_ERROR(store(buffer_start_, buffer_.bytes(), more));
  buffer_start_ += buffer_.size();
  buffer_.clear();
  return {};
}

Status LogicalWriter::store(std::uint64_t at, std::span<const std::byte> data, bool more) {
  if (at < old_size_) settings_.hides_old = true;
  return settings_.codec == format::Codec::none ? store_plain(at, data, more) : store_compressed(at, data);
}

Status LogicalWriter::store_plain(std::uint64_t at, std::span<const std::byte> data, bool more) {
  while (!data.empty()) {
    const bool grows =
        chunk_ && chunk_->logical_end() == at && at >= hidden_until_ && chunk_->room() > 0 && chunk_->may_grow();
    const bool fits_pack = data.size() <= std::min(kSmallBytes, space_->max_piece_bytes());
    if (!grows && !more && fits_pack) return pack(at, data.size(), data, format::Codec::none);
    if (!grows) TW_RETURN_IF_ERROR(open_chunk(at, data.size(), more));
    TW_ASSIGN_OR_RETURN(const std::size_t taken, chunk_->append(data));
    at += taken;
    data = data.subspan(taken);
  }
  return {};
}

Status LogicalWriter::store_compressed(std::uint64_t at, std::span<const std::byte> data) {
  while (!data.empty()) {
    const auto unit = data.first(std::min<std::uint64_t>(data.size(), space_->max_piece_bytes()));
    settings_.compressed.resize(unit.size());  // what does not get smaller is stored as it is
    const auto kind = static_cast<Compression>(settings_.codec);
    TW_ASSIGN_OR_RETURN(const std::size_t smaller, compress(kind, 0, unit, settings_.compressed));
    TW_RETURN_IF_ERROR(smaller > 0 && smaller < unit.size()
                           ? pack(at, unit.size(), std::span(settings_.compressed).first(smaller), settings_.codec)
                           : pack(at, unit.size(), unit, format::Codec::none));
    at += unit.size();
    data = data.subspan(unit.size());
  }
  return {};
}

Result<PackedAt> LogicalWriter::pack_entry(format::DirectoryEntry entry, std::span<const std::byte> stored) {
  // Recovery takes the pieces in order, so the chunk is published before this piece can reach the storage.
  if (chunk_) {
    TW_RETURN_IF_ERROR(chunk_->publish(false));
    TW_RETURN_IF_ERROR(settings_.finish_direct());
  }
  entry.rank = number_of(rank_, local_index_);
  entry.sequence = next_sequence();
  entry.end_before = stored_end();
  entry.stored_bytes = static_cast<std::uint32_t>(stored.size());
  std::uint64_t bytes = stored.size();
  if (space_ == &physical_) {
    TW_ASSIGN_OR_RETURN(space_, settings_.space_behind(physical_, bytes));
  }
  auto where = space_->pack(entry, stored);
  if (where.has_value()) ++count_;  // a recovery stops at a number that no piece has
  return where;
}

Status LogicalWriter::set_name(std::string_view name, std::uint32_t mode) {
  const std::vector<std::byte> stored = format::encode_name(name, mode);
  TW_RETURN_IF_ERROR(pack_entry({.crc = crc32c(stored), .codec = format::Codec::name}, stored).status());
  name_ = std::make_unique_for_overwrite<char[]>(name.size());
  name_bytes_ = static_cast<std::uint32_t>(name.copy(name_.get(), name.size()));
  mode_ = mode;
  return {};
}

Status LogicalWriter::pack(std::uint64_t at, std::uint64_t logical_bytes, std::span<const std::byte> stored,
                           format::Codec codec) {
  const std::uint64_t sequence = next_sequence();
  const std::uint32_t crc = crc32c(stored);  // also without checksums: it shows whether the piece reached the storage
  TW_ASSIGN_OR_RETURN(const PackedAt where, pack_entry({.logical_offset = at,
                                                        .logical_bytes = static_cast<std::uint32_t>(logical_bytes),
                                                        .crc = crc,
                                                        .codec = codec},
                                                       stored));
  add_piece({{at, where.offset, logical_bytes, stored.size(), crc, format::PieceKind::packed, codec, space_->later()},
             sequence,
             where.pack});
  left_end_ = std::max(left_end_, at + logical_bytes);
  if (chunk_) hidden_until_ = std::max(hidden_until_, at + logical_bytes);
  return {};
}

// Without more bytes expected behind them, as in random writes, the bytes get a chunk of their own size.
Status LogicalWriter::open_chunk(std::uint64_t at, std::uint64_t bytes, bool more) {
  // A chunk that is left because of a sync shows how much comes between two syncs.
  const bool cut = chunk_ && chunk_->logical_end() == at && !chunk_->may_grow();
  const std::uint64_t most = cut ? std::max(2 * chunk_->filled(), kSmallBytes) : ~std::uint64_t{0};
  TW_RETURN_IF_ERROR(leave_chunk());
  const std::uint64_t usual =
      std::min(settings_.chunk_bytes << std::min<std::uint64_t>(chunks_ / kChunksPerDoubling, kMostDoublings), most);
  const std::uint64_t asked = std::min(bytes, kLargestAsk);
  const std::uint64_t grown = settings_.chunks_grow && stored_end() < kLittle ? std::min(usual, kSmallBytes) : usual;
  std::uint64_t want = more ? std::max(grown, asked) : asked;
  // Bytes fewer than the buffer holds are all that was written in a row.
  if (settings_.exact)
    want = bytes < settings_.buffer_bytes ? bytes : std::max(std::min(settings_.chunk_bytes, most), bytes);
  if (space_ == &physical_) {
    TW_ASSIGN_OR_RETURN(space_, settings_.space_behind(physical_, want));
  }
  const format::Frame frame{.rank = number_of(rank_, local_index_),
                            .sequence = next_sequence(),
                            .logical_offset = at,
                            .end_before = stored_end()};
  static const std::shared_ptr<DirectWrites> buffered;
  const bool direct = settings_.direct != nullptr && fits_buffers(space_->file().direct_alignment());
  if (!direct) TW_RETURN_IF_ERROR(settings_.finish_direct());  // the slot of the chunk before comes first
  TW_ASSIGN_OR_RETURN(const format::Frame placed, space_->place_chunk(frame, want, settings_.exact, direct));
  ++count_;
  chunk_ = std::make_unique<ChunkWriter>(*space_, placed, direct ? settings_.direct : buffered);
  if (more && !cut) ++chunks_;
  hidden_until_ = 0;
  return {};
}

Status LogicalWriter::leave_chunk() {
  if (!chunk_) return {};
  TW_RETURN_IF_ERROR(chunk_->publish(false));
  chunk_->give_back();
  left_end_ = stored_end();
  if (chunk_->filled() > 0) add_piece({chunk_->piece(), chunk_->sequence(), 0});
  chunk_.reset();
  return {};
}

Status LogicalWriter::flush(bool by_sync) {
  const bool more = settings_.serves_few && buffer_start_ + buffer_.size() >= size_ && !behind_gap(buffer_start_);
  TW_RETURN_IF_ERROR(drain(more));
  if (chunk_) TW_RETURN_IF_ERROR(chunk_->publish(by_sync));
  dirty_ = false;
  return {};
}

Status LogicalWriter::mark_synced() { return chunk_ ? chunk_->publish(true) : Status{}; }

void LogicalWriter::pin(const std::shared_ptr<const AccessRequest>& sync) {
  if (chunk_) chunk_->pin(sync);
}

Status LogicalWriter::push_small() {
  TW_RETURN_IF_ERROR(drain(false));
  release_buffer();
  return {};
}

Status LogicalWriter::finish() {
  TW_RETURN_IF_ERROR(push_small());
  TW_RETURN_IF_ERROR(leave_chunk());
  dirty_ = false;
  return {};
}

Contribution LogicalWriter::contribution() const {
  Contribution c;
  c.local_index = local_index_;
  c.bytes = size_;
  c.position = position_;
  c.sequences = count_;
  c.named = name_ != nullptr;
  if (c.named) {
    c.name = {name_.get(), name_bytes_};
    c.mode = mode_;
  }
  return c;
}

std::span<const WrittenPiece> LogicalWriter::pieces(std::vector<WrittenPiece>& room) const {
  room.clear();
  if (n_pieces_ > 0) room.push_back(first_piece_);
  room.insert(room.end(), more_pieces_.begin(), more_pieces_.end());
  std::ranges::sort(room, {}, &WrittenPiece::sequence);
  for (WrittenPiece& piece : room)
    if (piece.entry.kind == format::PieceKind::packed)
      piece.entry.physical_offset =
          (piece.entry.later == 0 ? physical_ : *space_).resolve({piece.pack, piece.entry.physical_offset});
  return room;
}

}  // namespace thalweg
