#include "multifile/read/logical_reader.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "base/compress.hpp"
#include "base/crc32c.hpp"
#include "base/endian.hpp"
#include "multifile/format/data_seal.hpp"

namespace thalweg {

namespace {

constexpr std::uint64_t kBlockBytes = 256 * 1024;  // checked while in cache
constexpr std::uint64_t kReadAheadBytes = 256 * 1024;
constexpr std::uint64_t kAheadPieceBytes = 64 * 1024;  // larger pieces are read alone

}  // namespace

Result<std::unique_ptr<LogicalReader>> LogicalReader::make(const PhysicalReader& physical, const PlacedRange& at,
                                                           const format::FileEntry& entry,
                                                           std::vector<format::PieceEntry> pieces,
                                                           ReaderSettings& settings) {
  for (const format::PieceEntry& piece : pieces) {
    if (piece.logical_offset <= entry.bytes && piece.logical_bytes <= entry.bytes - piece.logical_offset) continue;
    return physical.corrupt(
        fmt::format("a piece of logical file {} reaches beyond its {} bytes", at.first, entry.bytes));
  }
  std::unique_ptr<LogicalReader> reader(new LogicalReader(physical, at, entry, std::move(pieces), settings));
  TW_RETURN_IF_ERROR(reader->resolve());
  return reader;
}

// Later pieces hide earlier ones. Pieces that come in logical order without overlap, as most do, need no cutting.
Status LogicalReader::resolve() {
  const auto add = [this](std::uint64_t begin, std::uint64_t end, std::uint32_t piece) {
    spans_.push_back({begin, end, piece});
  };
  bool in_order = true;
  for (std::size_t i = 0; i + 1 < pieces_.size(); ++i)
    in_order &= pieces_[i].logical_offset + pieces_[i].logical_bytes <= pieces_[i + 1].logical_offset;
  if (in_order) {
    spans_.reserve(pieces_.size());
    for (std::uint32_t i = 0; i < pieces_.size(); ++i)
      add(pieces_[i].logical_offset, pieces_[i].logical_offset + pieces_[i].logical_bytes, i);
    return {};
  }
  Overlay shown;
  for (std::uint32_t i = 0; i < pieces_.size(); ++i) {
    if (i % kAskEach == kAskEach - 1 && settings_.go_on && !settings_.go_on()) return physical_.stopped();
    put_over(shown, {pieces_[i].logical_offset, pieces_[i].logical_offset + pieces_[i].logical_bytes, i});
  }
  for (const auto& [begin, span] : shown) spans_.push_back(span);
  return {};
}

const LogicalReader::Span* LogicalReader::span_at(std::uint64_t at) const {
  const auto found = std::partition_point(spans_.begin(), spans_.end(), [at](const Span& s) { return s.end <= at; });
  return found == spans_.end() ? nullptr : &*found;
}

std::uint64_t LogicalReader::contiguous() const {
  if (position_ >= size()) return 0;
  const Span* span = span_at(position_);
  if (span == nullptr) return size() - position_;
  return (span->begin > position_ ? span->begin : span->end) - position_;
}

std::uint64_t LogicalReader::skip_zeros(std::uint64_t at) const {
  if ((entry_.flags & format::kFileDamaged) != 0) return at;
  const Span* span = span_at(at);
  return span == nullptr ? size() : std::max(at, span->begin);
}

Status LogicalReader::damaged(const std::string& what, std::uint64_t physical_offset) const {
  return Status::error(Code::corrupt_file, "'{}', logical file {}, offset {}: {}", here_->path(), rank_,
                       physical_offset, what);
}

Status LogicalReader::read(std::uint64_t at, std::span<std::byte> data, std::size_t& got) {
  got = 0;
  if (at >= size()) return {};
  data = data.first(std::min<std::uint64_t>(data.size(), size() - at));
  while (!data.empty()) {
    std::size_t n = 0;
    if (Status status = read_some(at, data, n); !status.ok()) return physical_.explain(std::move(status));
    got += n;
    at += n;
    data = data.subspan(n);
  }
  return {};
}

// At least one byte, from one source.
Status LogicalReader::read_some(std::uint64_t at, std::span<std::byte> data, std::size_t& n) {
  const std::uint64_t within = at - window_begin_;
  if (within < window_.size()) {
    n = std::min<std::uint64_t>(data.size(), window_.size() - within);
    std::memcpy(data.data(), window_.data() + within, n);
    return {};
  }
  const Span* span = span_at(at);
  if (span == nullptr || span->begin > at) {
    n = span == nullptr ? data.size() : std::min<std::uint64_t>(data.size(), span->begin - at);
    here_ = &physical_;
    if ((entry_.flags & format::kFileDamaged) != 0) return damaged("a repair found flushed bytes lost here", 0);
    std::memset(data.data(), 0, n);
    return {};
  }
  data = data.first(std::min<std::uint64_t>(data.size(), span->end - at));
  TW_ASSIGN_OR_RETURN(here_, home_of(pieces_[span->piece]));
  const format::PieceKind kind = pieces_[span->piece].kind;
  if (kind == format::PieceKind::chunk) return read_chunk(*span, at, data, n);
  if (kind == format::PieceKind::zeros) {
    n = data.size();
    std::memset(data.data(), 0, n);
    return {};
  }
  TW_RETURN_IF_ERROR(fill_from_pack(*span));
  return read_some(at, data, n);
}

Status LogicalReader::read_chunk(const Span& span, std::uint64_t at, std::span<std::byte> data, std::size_t& n) {
  TW_RETURN_IF_ERROR(open_chunk(span.piece));
  const format::PieceEntry& piece = pieces_[span.piece];
  const std::uint64_t granule = physical_.header().granule;
  const std::uint64_t within = at - piece.logical_offset;
  const bool to_the_end = within + data.size() == piece.logical_bytes;
  const std::uint64_t whole = to_the_end ? data.size() : data.size() / granule * granule;
  if (within % granule == 0 && whole > 0 && whole >= settings_.buffer_bytes) {
    n = verifies() ? std::min(whole, std::max(kBlockBytes / granule, std::uint64_t{1}) * granule) : whole;
    return read_granules(within, data.first(n));
  }
  TW_RETURN_IF_ERROR(fill_from_chunk(span, at));
  return read_some(at, data, n);
}

// The window becomes the granules around `at`, as many as the buffer takes.
Status LogicalReader::fill_from_chunk(const Span& span, std::uint64_t at) {
  const format::PieceEntry& piece = pieces_[span.piece];
  const std::uint64_t granule = physical_.header().granule;
  const std::uint64_t begin = (at - piece.logical_offset) / granule * granule;
  const std::uint64_t wanted = std::max(granule, settings_.buffer_bytes / granule * granule);
  window_ = {};
  buffer_.resize(std::min(wanted, piece.logical_bytes - begin));
  TW_RETURN_IF_ERROR(read_granules(begin, buffer_));
  set_window(span, piece.logical_offset + begin);
  return {};
}

// The window becomes the part of buffer_ that the span shows; buffer_ begins at logical offset `content_begin`.
void LogicalReader::set_window(const Span& span, std::uint64_t content_begin) {
  const std::uint64_t begin = std::max(span.begin, content_begin);
  const std::uint64_t end = std::min(span.end, content_begin + buffer_.size());
  window_ = std::span<const std::byte>(buffer_).subspan(begin - content_begin, end - begin);
  window_begin_ = begin;
}

Status LogicalReader::fill_from_pack(const Span& span) {
  const format::PieceEntry& piece = pieces_[span.piece];
  window_ = {};
  std::vector<std::byte> stored;
  const bool plain = piece.codec == format::Codec::none;
  std::vector<std::byte>& target = plain ? buffer_ : stored;
  target.resize(piece.stored_bytes);
  TW_RETURN_IF_ERROR(read_ahead(piece.physical_offset, target));
  if (verifies() && crc32c(target) != piece.crc)
    return damaged("data contradict their checksum", piece.physical_offset);
  if (!plain) {
    buffer_.resize(piece.logical_bytes);
    const Status status = decompress(static_cast<Compression>(piece.codec), stored, buffer_);
    if (!status.ok()) return status.with_context(damaged("compressed piece", piece.physical_offset).message());
  }
  set_window(span, piece.logical_offset);
  return {};
}

// Without checksums, the arrival seals show which flushed bytes are lost: after a repair they may read as zeros.
bool LogicalReader::verifies() const {
  return verifies_every_byte() || (settings_.verify && (entry_.flags & format::kFileDamaged) != 0);
}

bool LogicalReader::verifies_every_byte() const {
  return settings_.verify && physical_.header().checksum == format::Checksum::crc32c;
}

// Bytes that are not verified may belong to a file that replaced this one.
Status LogicalReader::read_stored(std::uint64_t offset, std::span<std::byte> to) const {
  TW_RETURN_IF_ERROR(read_exactly(here_->file(), offset, to));
  if (verifies_every_byte()) return {};
  const Status status = here_->check_not_replaced();
  if (!status.ok()) std::memset(to.data(), 0, to.size());
  return status;
}

Status LogicalReader::read_ahead(std::uint64_t offset, std::span<std::byte> to) {
  ReadAhead& ahead = settings_.ahead;
  if (to.size() > kAheadPieceBytes) return read_stored(offset, to);
  const std::uint64_t within = offset - ahead.begin;
  if (ahead.physical != here_ || within >= ahead.bytes.size() || to.size() > ahead.bytes.size() - within) {
    // A task that reads backwards continues towards the front.
    const bool backwards = ahead.physical == here_ && offset < ahead.begin && ahead.begin - offset < kReadAheadBytes;
    const std::uint64_t end = offset + to.size();
    const std::uint64_t begin = !backwards ? offset : end - std::min(end, kReadAheadBytes);
    ahead.physical = nullptr;
    ahead.bytes.resize(backwards ? end - begin : kReadAheadBytes);
    TW_ASSIGN_OR_RETURN(const std::size_t got, here_->file().read(begin, ahead.bytes));
    if (!verifies_every_byte()) TW_RETURN_IF_ERROR(here_->check_not_replaced());
    ahead.bytes.resize(got);
    ahead.begin = begin;
    ahead.physical = here_;
    if (begin + got < end) return read_stored(offset, to);  // reports what is missing
  }
  std::memcpy(to.data(), ahead.bytes.data() + (offset - ahead.begin), to.size());
  return {};
}

Result<const PhysicalReader*> LogicalReader::home_of(const format::PieceEntry& piece) const {
  if (piece.later == 0) return &physical_;
  TW_ASSIGN_OR_RETURN(const PhysicalReader* later, settings_.later(piece.later));
  return later;
}

Result<format::Frame> LogicalReader::frame_of(const format::PieceEntry& piece) const {
  std::vector<std::byte> bytes(format::kFrameBytes);
  TW_ASSIGN_OR_RETURN(const PhysicalReader* home, home_of(piece));
  TW_RETURN_IF_ERROR(read_exactly(home->file(), piece.physical_offset, bytes));
  const std::uint64_t room = format::kMaxOffset - piece.physical_offset;
  const auto frame = format::parse_frame(bytes, home->header(), piece.physical_offset, room);
  if (frame && frame->kind == format::FrameKind::chunk && frame->rank == number_ &&
      frame->logical_offset == piece.logical_offset && piece.logical_bytes <= frame->capacity())
    return *frame;
  return Status::error(Code::corrupt_file,
                       "'{}', logical file {}, offset {}: the frame of a chunk is damaged or that of another one",
                       home->path(), rank_, piece.physical_offset);
}

Status LogicalReader::open_chunk(std::uint32_t number) {
  if (chunk_piece_ == number) return {};
  chunk_piece_ = ~0u;
  const format::PieceEntry& piece = pieces_[number];
  TW_ASSIGN_OR_RETURN(const format::Frame frame, frame_of(piece));
  chunk_data_ = frame.data();
  if (verifies()) TW_RETURN_IF_ERROR(load_table(piece, frame));
  chunk_piece_ = number;
  return {};
}

// The checksums of all granules of the piece: full ones from the table, the last one from the fill slot of that size.
Status LogicalReader::load_table(const format::PieceEntry& piece, const format::Frame& frame) {
  const std::uint64_t granules = piece.logical_bytes / physical_.header().granule;
  const std::uint64_t head = format::kChecksumTableOffset - format::kFillSlotOffset[0];
  chunk_table_.resize(head + granules * sizeof(std::uint32_t));
  TW_RETURN_IF_ERROR(read_exactly(here_->file(), piece.physical_offset + format::kFillSlotOffset[0], chunk_table_));
  std::optional<format::FillSlot> fill;
  for (const std::uint64_t within : format::kFillSlotOffset) {
    const auto bytes =
        std::span<const std::byte>(chunk_table_).subspan(within - format::kFillSlotOffset[0], format::kFillSlotBytes);
    const auto slot = format::parse_fill(bytes, here_->header().id, piece.physical_offset + within, frame.capacity());
    if (slot && slot->bytes == piece.logical_bytes) fill = slot;
  }
  const bool needs_tail = piece.logical_bytes % physical_.header().granule != 0;
  if (!fill && needs_tail) return damaged("no fill slot has the size that is in the index", piece.physical_offset);
  chunk_table_.erase(chunk_table_.begin(), chunk_table_.begin() + static_cast<std::ptrdiff_t>(head));
  chunk_table_.resize((granules + 1) * sizeof(std::uint32_t));
  store_le(std::span(chunk_table_).last(sizeof(std::uint32_t)), fill ? fill->tail_seal : 0u);
  return {};
}

// Reads and checks granules from offset `within` of the open chunk; the last one may be incomplete.
Status LogicalReader::read_granules(std::uint64_t within, std::span<std::byte> to) {
  TW_RETURN_IF_ERROR(read_stored(chunk_data_ + within, to));
  if (!verifies()) return {};
  const std::uint64_t granule = physical_.header().granule;
  for (std::uint64_t done = 0; done < to.size(); done += granule) {
    const auto bytes = to.subspan(done, std::min<std::uint64_t>(granule, to.size() - done));
    const std::uint64_t number = (within + done) / granule;
    const auto expected =
        load_le<std::uint32_t>(std::span<const std::byte>(chunk_table_).subspan(number * sizeof(std::uint32_t)));
    if (format::data_seal(physical_.header().checksum, bytes) != expected) {
      std::memset(to.data(), 0, to.size());  // nothing unverified is left with the caller
      return damaged(verifies_every_byte() ? "data contradict their checksum" : "data did not reach the storage whole",
                     chunk_data_ + within + done);
    }
  }
  return {};
}

}  // namespace thalweg
