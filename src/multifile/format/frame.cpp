#include "multifile/format/frame.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/checked_math.hpp"
#include "store/format/field_list.hpp"

namespace thalweg::format {

namespace {

// Whether a logical file of this rank may have bytes in this physical file. With a table only the ranks section
// decides; a later physical file may have bytes of all.
bool rank_may_be_here(std::uint64_t rank, const FileHeader& header) {
  if (is_added(rank)) return rank < kLocalsEnd;
  if (header.mapping == Mapping::table || header.is_later()) return rank < header.n_logical;
  return rank >= header.first_rank && rank - header.first_rank < header.n_local;
}

bool sequence_is_of(std::uint64_t sequence, std::uint32_t session) {
  return sequence / kSequencePerSession == session && sequence % kSequencePerSession != 0;
}

bool chunk_is_legal(const Frame& f, const FileHeader& header) {
  return f.data_offset % header.alignment == 0 && f.data_offset >= chunk_data_offset(f.capacity(), header) &&
         rank_may_be_here(f.rank, header) && sequence_is_of(f.sequence, f.session) && f.logical_offset <= kMaxOffset &&
         f.end_before <= kMaxOffset && f.directory_crc == 0;
}

bool pack_is_legal(const Frame& f) {
  if (f.data_offset < kDirectoryOffset || f.n_pieces > kMostPackPieces) return false;
  return f.n_pieces <= (f.data_offset - kDirectoryOffset) / kDirectoryEntryBytes && f.payload_bytes <= f.capacity();
}

bool frame_is_legal(const Frame& f, const FileHeader& header, std::uint64_t room) {
  if (f.session > kMostSession || f.extent == 0 || f.extent % header.alignment != 0 || f.extent > room) return false;
  if (f.offset > kMaxOffset || f.extent > kMaxOffset - f.offset || f.data_offset > f.extent) return false;
  if (f.kind == FrameKind::chunk) return chunk_is_legal(f, header);
  if (f.kind == FrameKind::later) return f.later > 0 && f.later <= header.n_later && !header.is_later();
  return f.kind == FrameKind::reserved || (f.kind == FrameKind::pack && pack_is_legal(f));
}

// The fields behind the first four depend on the kind.
template <class Io, class F>
void list_frame(Io& io, F& f) {
  std::uint64_t none = 0;
  std::uint32_t reserved = 0;
  move_fields(io, f.kind, f.session, f.extent, f.data_offset);
  if (f.kind == FrameKind::chunk)
    move_fields(io, f.rank, f.sequence, f.logical_offset, f.directory_crc, reserved, f.end_before);
  if (f.kind == FrameKind::later) move_fields(io, f.later);
  if (f.kind == FrameKind::pack) move_fields(io, f.n_pieces, f.payload_bytes, none, f.directory_crc);
}

template <class Io, class Entry>
void list_directory_entry(Io& io, Entry& e) {
  move_fields(io, e.rank, e.sequence, e.logical_offset, e.end_before, e.logical_bytes, e.stored_bytes, e.crc, e.codec);
}

Status bad_entry(std::uint64_t number, const char* field, std::uint64_t value, const std::string& allowed) {
  return bad_field(fmt::format("directory entry {}", number).c_str(), field, value, allowed);
}

Status check_name_entry(const DirectoryEntry& e, std::uint64_t number) {
  constexpr std::size_t kMost = kNameModeBytes + kMostNameBytes;
  if (e.logical_bytes != 0) return bad_entry(number, "logical bytes", e.logical_bytes, "for a name, only 0");
  if (e.logical_offset != 0) return bad_entry(number, "logical offset", e.logical_offset, "for a name, only 0");
  if (e.stored_bytes < kNameModeBytes || e.stored_bytes > kMost)
    return bad_entry(number, "stored bytes", e.stored_bytes, fmt::format("for a name, 4 to {}", kMost));
  return {};
}

Status check_directory_entry(const DirectoryEntry& e, std::uint64_t number, const Frame& frame,
                             const FileHeader& header) {
  if (!rank_may_be_here(e.rank, header)) return bad_entry(number, "rank", e.rank, "a rank of this physical file");
  if (!sequence_is_of(e.sequence, frame.session))
    return bad_entry(number, "sequence", e.sequence, fmt::format("one of session {}", frame.session));
  if (e.end_before > kMaxOffset) return bad_entry(number, "end before", e.end_before, "at most 2^63-1");
  if (e.codec == Codec::name) return check_name_entry(e, number);
  if (e.logical_bytes == 0 || e.logical_bytes > kMostPieceBytes || e.logical_offset > kMaxOffset - e.logical_bytes)
    return bad_entry(number, "logical bytes", e.logical_bytes, "1 to 2^26, to an end of at most 2^63-1,");
  if (e.stored_bytes == 0 || (e.codec == Codec::none && e.stored_bytes != e.logical_bytes))
    return bad_entry(number, "stored bytes", e.stored_bytes, "1 or more, without codec the number of logical bytes,");
  if (e.stored_bytes > most_stored_bytes(e.logical_bytes))
    return bad_entry(number, "stored bytes", e.stored_bytes,
                     fmt::format("at most {}", most_stored_bytes(e.logical_bytes)));
  return {};
}

}  // namespace

std::array<std::byte, kFrameBytes> encode_frame(const Frame& f, const FileIdentity& id) {
  std::array<std::byte, kFrameBytes> bytes{};
  FieldWriter out(bytes);
  out.put_magic(kFrameMagic);
  list_frame(out, f);
  seal(bytes, id, f.offset);
  return bytes;
}

std::optional<Frame> parse_frame(ByteView first_128_bytes, const FileHeader& header, std::uint64_t offset,
                                 std::uint64_t room) {
  const ByteView bytes = first_128_bytes;
  if (bytes.size() != kFrameBytes || offset % header.alignment != 0) return std::nullopt;
  FieldReader in(bytes);
  if (!in.get_magic(kFrameMagic) || !is_sealed(bytes, header.id, offset)) return std::nullopt;
  Frame frame;
  frame.offset = offset;
  list_frame(in, frame);
  return frame_is_legal(frame, header, room) ? std::optional(frame) : std::nullopt;
}

std::uint64_t chunk_data_offset(std::uint64_t capacity, const FileHeader& header) {
  const std::uint64_t granules = capacity / header.granule + (capacity % header.granule != 0);
  const std::uint64_t front = kChecksumTableOffset + sizeof(std::uint32_t) * granules;
  return align_up(front, header.alignment);
}

std::uint64_t chunk_capacity(std::uint64_t extent, const FileHeader& header) {
  if (extent <= chunk_data_offset(0, header)) return 0;
  // The front shrinks as the data area does: the smallest one that suffices, counted in units of alignment.
  std::uint64_t low = chunk_data_offset(0, header) / header.alignment;
  std::uint64_t high = std::min(chunk_data_offset(extent, header), extent) / header.alignment;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    const std::uint64_t front = middle * header.alignment;
    if (chunk_data_offset(extent - front, header) <= front) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return extent - low * header.alignment;
}

std::vector<std::byte> encode_name(std::string_view name, std::uint32_t mode) {
  std::vector<std::byte> bytes(kNameModeBytes + name.size());
  FieldWriter out(bytes);
  out.put(mode).put_bytes(std::as_bytes(std::span(name)));
  return bytes;
}

std::string name_of_part(std::string_view name, std::uint64_t part) {
  std::string stored(name.size() + kPartBytes, '\0');
  name.copy(stored.data(), name.size());
  store_le(std::as_writable_bytes(std::span(stored)).last(sizeof part), part);
  return stored;
}

std::int64_t part_of(std::string_view stored) {
  if (stored.find('\0') == std::string_view::npos) return -1;
  return static_cast<std::int64_t>(
      load_le<std::uint64_t>(std::as_bytes(std::span(stored)).last(sizeof(std::uint64_t))));
}

bool name_is_legal(std::string_view stored) {
  const std::size_t end = stored.find('\0');
  if (end == std::string_view::npos) return true;
  return end > 0 && end + kPartBytes == stored.size() && part_of(stored) >= 0;
}

std::string shown_name(std::string_view stored) {
  const std::int64_t part = part_of(stored);
  if (part < 0) return fmt::format("'{}'", stored);
  return fmt::format("'{}' with part {}", stored.substr(0, stored.find('\0')), part);
}

void encode_directory_entry(const DirectoryEntry& e, ByteSpan out_48_bytes) {
  FieldWriter out(out_48_bytes);
  list_directory_entry(out, e);
}

Result<std::vector<DirectoryEntry>> parse_directory(ByteView bytes, const Frame& frame, const FileHeader& header) {
  if (bytes.size() % kDirectoryEntryBytes != 0 || bytes.size() / kDirectoryEntryBytes != frame.n_pieces)
    return bad_size("directory", bytes.size(), frame.n_pieces * kDirectoryEntryBytes);
  const std::uint64_t offset = frame.offset + kDirectoryOffset;
  if (frame.directory_crc != bound_crc(header.id, offset, bytes)) return bad_crc("directory of a pack", offset);
  std::vector<DirectoryEntry> entries;
  entries.reserve(frame.n_pieces);
  std::uint64_t stored = 0;
  for (std::uint64_t i = 0; i < frame.n_pieces; ++i) {
    FieldReader in(bytes.subspan(i * kDirectoryEntryBytes, kDirectoryEntryBytes));
    list_directory_entry(in, entries.emplace_back());
    TW_RETURN_IF_ERROR(check_directory_entry(entries.back(), i, frame, header));
    if (add_overflow(stored, std::uint64_t{entries.back().stored_bytes}, &stored) || stored > frame.payload_bytes)
      return bad_entry(i, "stored bytes", entries.back().stored_bytes, "no more than the payload holds");
  }
  if (stored != frame.payload_bytes)
    return bad_field("pack", "payload bytes", frame.payload_bytes, std::to_string(stored));
  return entries;
}

}  // namespace thalweg::format
