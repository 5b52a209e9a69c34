#include "multifile/format/frame.hpp"

#include <algorithm>

#include "base/checked_math.hpp"
#include "base/fields.hpp"

namespace thalweg::format {

namespace {

constexpr std::string_view kFrameMagic = "TWFRAME1";
constexpr std::size_t kFrameCrcOffset = 124;
constexpr std::size_t kFillCrcOffset = 28;
constexpr std::uint32_t kFillSynced = 1;

bool all_zero(ByteView bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

// Whether a logical file of this rank may have bytes in this physical file. With a table only the ranks section decides.
bool rank_may_be_here(std::uint64_t rank, const FileHeader& header) {
  if (header.mapping == Mapping::table) return rank < header.n_logical;
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

bool frame_is_legal(const Frame& f, const FileHeader& header, std::uint64_t offset, std::uint64_t room) {
  if (f.session > kMostSession || f.extent == 0 || f.extent % header.alignment != 0 || f.extent > room) return false;
  if (offset > kMaxOffset || f.extent > kMaxOffset - offset || f.data_offset > f.extent) return false;
  switch (f.kind) {
    case FrameKind::reserved:
      return true;
    case FrameKind::chunk:
      return chunk_is_legal(f, header);
    case FrameKind::pack:
      return pack_is_legal(f);
  }
  return false;
}

Frame read_frame_fields(FieldReader in) {
  Frame f;
  f.kind = FrameKind{in.get<std::uint32_t>()};
  f.session = in.get<std::uint32_t>();
  f.extent = in.get<std::uint64_t>();
  f.data_offset = in.get<std::uint64_t>();
  const auto rank_or_pieces = in.get<std::uint64_t>();
  const auto sequence_or_payload = in.get<std::uint64_t>();
  const auto logical_offset = in.get<std::uint64_t>();
  const auto directory_crc = in.get<std::uint32_t>();
  in.get<std::uint32_t>();  // reserved
  const auto end_before = in.get<std::uint64_t>();
  if (f.kind == FrameKind::chunk) {
    f.rank = rank_or_pieces;
    f.sequence = sequence_or_payload;
    f.logical_offset = logical_offset;
    f.end_before = end_before;
    f.directory_crc = directory_crc;
  } else if (f.kind == FrameKind::pack) {
    f.n_pieces = rank_or_pieces;
    f.payload_bytes = sequence_or_payload;
    f.directory_crc = directory_crc;
  }
  return f;
}

DirectoryEntry read_directory_entry(FieldReader in) {
  DirectoryEntry e;
  e.rank = in.get<std::uint64_t>();
  e.sequence = in.get<std::uint64_t>();
  e.logical_offset = in.get<std::uint64_t>();
  e.end_before = in.get<std::uint64_t>();
  e.logical_bytes = in.get<std::uint32_t>();
  e.stored_bytes = in.get<std::uint32_t>();
  e.crc = in.get<std::uint32_t>();
  e.codec = Codec{in.get<std::uint32_t>()};
  return e;
}

Status bad_entry(std::uint64_t number, const char* field, std::uint64_t value, const std::string& allowed) {
  return bad_field(("directory entry " + std::to_string(number)).c_str(), field, value, allowed);
}

Status check_directory_entry(const DirectoryEntry& e, std::uint64_t number, const Frame& frame,
                             const FileHeader& header) {
  if (!rank_may_be_here(e.rank, header)) return bad_entry(number, "rank", e.rank, "a rank of this physical file");
  if (!sequence_is_of(e.sequence, frame.session)) {
    return bad_entry(number, "sequence", e.sequence, "one of session " + std::to_string(frame.session));
  }
  if (e.logical_bytes == 0 || e.logical_bytes > kMostPieceBytes || e.logical_offset > kMaxOffset - e.logical_bytes) {
    return bad_entry(number, "logical bytes", e.logical_bytes, "1 to 2^26, to an end of at most 2^63-1,");
  }
  if (e.stored_bytes == 0 || (e.codec == Codec::none && e.stored_bytes != e.logical_bytes)) {
    return bad_entry(number, "stored bytes", e.stored_bytes, "1 or more, without codec the number of logical bytes,");
  }
  if (e.stored_bytes > most_stored_bytes(e.logical_bytes)) {
    return bad_entry(number, "stored bytes", e.stored_bytes,
                     "at most " + std::to_string(most_stored_bytes(e.logical_bytes)));
  }
  if (e.end_before > kMaxOffset) return bad_entry(number, "end before", e.end_before, "at most 2^63-1");
  return {};
}

}  // namespace

std::array<std::byte, kFrameBytes> encode_frame(const Frame& f, const FileIdentity& id, std::uint64_t offset) {
  std::array<std::byte, kFrameBytes> bytes{};
  FieldWriter out(bytes);
  out.put_magic(kFrameMagic).put(static_cast<std::uint32_t>(f.kind)).put(f.session).put(f.extent).put(f.data_offset);
  if (f.kind == FrameKind::chunk) {
    out.put(f.rank).put(f.sequence).put(f.logical_offset).put(f.directory_crc);
    out.put(std::uint32_t{0}).put(f.end_before);
  }
  if (f.kind == FrameKind::pack) out.put(f.n_pieces).put(f.payload_bytes).put(std::uint64_t{0}).put(f.directory_crc);
  const ByteSpan all(bytes);
  store_le(all.subspan(kFrameCrcOffset), bound_crc(id, offset, all.first(kFrameCrcOffset)));
  return bytes;
}

ParsedFrame parse_frame(ByteView first_128_bytes, const FileHeader& header, std::uint64_t offset, std::uint64_t room) {
  const ByteView bytes = first_128_bytes;
  if (bytes.size() != kFrameBytes) return {};
  if (all_zero(bytes)) return {FrameCheck::zero, {}};
  FieldReader in(bytes);
  if (!in.get_magic(kFrameMagic) || offset % header.alignment != 0) return {};
  if (load_le<std::uint32_t>(bytes.subspan(kFrameCrcOffset)) !=
      bound_crc(header.id, offset, bytes.first(kFrameCrcOffset))) {
    return {};
  }
  const Frame frame = read_frame_fields(in);
  if (!frame_is_legal(frame, header, offset, room)) return {};
  return {FrameCheck::valid, frame};
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

std::array<std::byte, kFillSlotBytes> encode_fill(const FillSlot& slot, const FileIdentity& id, std::uint64_t offset) {
  std::array<std::byte, kFillSlotBytes> bytes{};
  FieldWriter out(bytes);
  out.put(slot.bytes).put(slot.count).put(slot.tail_seal).put(slot.synced ? kFillSynced : std::uint32_t{0});
  const ByteSpan all(bytes);
  store_le(all.subspan(kFillCrcOffset), bound_crc(id, offset, all.first(kFillCrcOffset)));
  return bytes;
}

std::optional<FillSlot> parse_fill(ByteView bytes, const FileIdentity& id, std::uint64_t offset,
                                   std::uint64_t capacity) {
  if (bytes.size() != kFillSlotBytes) return std::nullopt;
  const auto crc = load_le<std::uint32_t>(bytes.subspan(kFillCrcOffset));
  if (crc != bound_crc(id, offset, bytes.first(kFillCrcOffset))) return std::nullopt;
  FieldReader in(bytes);
  FillSlot slot;
  slot.bytes = in.get<std::uint64_t>();
  slot.count = in.get<std::uint64_t>();
  slot.tail_seal = in.get<std::uint32_t>();
  slot.synced = (in.get<std::uint32_t>() & kFillSynced) != 0;
  if (slot.bytes > capacity || slot.count == 0) return std::nullopt;
  return slot;
}

void encode_directory_entry(const DirectoryEntry& e, ByteSpan out_48_bytes) {
  FieldWriter out(out_48_bytes);
  out.put(e.rank).put(e.sequence).put(e.logical_offset).put(e.end_before);
  out.put(e.logical_bytes).put(e.stored_bytes).put(e.crc).put(static_cast<std::uint32_t>(e.codec));
}

Result<std::vector<DirectoryEntry>> parse_directory(ByteView bytes, const Frame& frame, const FileHeader& header,
                                                    std::uint64_t frame_offset) {
  if (bytes.size() % kDirectoryEntryBytes != 0 || bytes.size() / kDirectoryEntryBytes != frame.n_pieces) {
    return bad_size("directory", bytes.size(), frame.n_pieces * kDirectoryEntryBytes);
  }
  const std::uint64_t offset = frame_offset + kDirectoryOffset;
  if (frame.directory_crc != bound_crc(header.id, offset, bytes)) return bad_crc("directory of a pack", offset);
  std::vector<DirectoryEntry> entries;
  entries.reserve(frame.n_pieces);
  std::uint64_t stored = 0;
  for (std::uint64_t i = 0; i < frame.n_pieces; ++i) {
    entries.push_back(read_directory_entry(FieldReader(bytes.subspan(i * kDirectoryEntryBytes, kDirectoryEntryBytes))));
    TW_RETURN_IF_ERROR(check_directory_entry(entries.back(), i, frame, header));
    if (add_overflow(stored, std::uint64_t{entries.back().stored_bytes}, &stored) || stored > frame.payload_bytes) {
      return bad_entry(i, "stored bytes", entries.back().stored_bytes, "no more than the payload holds");
    }
  }
  if (stored != frame.payload_bytes)
    return bad_field("pack", "payload bytes", frame.payload_bytes, std::to_string(stored));
  return entries;
}

}  // namespace thalweg::format
