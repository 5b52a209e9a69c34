#include "multifile/format/index.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "base/checked_math.hpp"
#include "store/format/field_list.hpp"

namespace thalweg::format {

namespace {

constexpr std::string_view kIndexMagic = "TWINDEX1";
constexpr std::size_t kMostKeyBytes = 255;

// Moves *at behind a section of `n_entries` entries; false when that is beyond the largest offset.
bool advance(std::uint64_t* at, std::uint64_t n_entries, std::uint64_t entry_bytes) {
  std::uint64_t bytes = 0;
  return !mul_overflow(section_pages(n_entries, entry_bytes), kPageBytes, &bytes) && !add_overflow(*at, bytes, at) &&
         *at <= kMaxOffset;
}

template <class Io, class Page>
void list_index(Io& io, Page& p) {
  std::uint32_t reserved = 0;
  move_fields(io, p.session, reserved, p.n_local, p.n_pieces, p.names_bytes, p.attributes_bytes, p.files_offset,
              p.pieces_offset, p.names_offset, p.attributes_offset, p.added_runs_offset, p.name_places_offset, p.end,
              p.n_entries, p.n_added, p.n_added_runs, p.n_name_places, p.n_later, p.later_offset);
}

template <class Io, class Entry>
void list_file_entry(Io& io, Entry& e) {
  move_fields(io, e.bytes, e.first_piece, e.n_pieces, e.mode, e.name_offset, e.name_bytes, e.flags);
}

template <class Io, class Entry>
void list_piece_entry(Io& io, Entry& e, std::uint8_t& codec) {
  move_fields(io, e.logical_offset, e.physical_offset, e.logical_bytes, e.stored_bytes, e.crc, e.kind, codec, e.later);
}

Status bad_index(const char* field, std::uint64_t value, const std::string& allowed) {
  return bad_field("index page", field, value, allowed);
}

Status check_index_counts(const IndexPage& p, const FileHeader& header, const StateSlot& state) {
  if (p.session > state.session)
    return bad_index("session number", p.session, fmt::format("at most {}", state.session));
  if (p.n_local != header.n_local)
    return bad_index("number of logical files", p.n_local, fmt::format("only {}", header.n_local));
  if (p.n_added > kMaxOffset - p.n_local)
    return bad_index("number of added logical files", p.n_added, fmt::format("at most {}", kMaxOffset - p.n_local));
  if (p.n_entries < p.n_added || p.n_entries > p.n_local + p.n_added)
    return bad_index("number of file entries", p.n_entries, fmt::format("{} to {}", p.n_added, p.n_local + p.n_added));
  if (p.n_later != header.n_later)
    return bad_index("number of later physical files", p.n_later, fmt::format("only {}", header.n_later));
  const auto first_only = [&header](const char* field, std::uint64_t value) {
    return value == 0 || header.id.physical == 0 ? Status{}
                                                 : bad_index(field, value, "outside physical file 0, only 0");
  };
  TW_RETURN_IF_ERROR(first_only("bytes of attributes", p.attributes_bytes));
  TW_RETURN_IF_ERROR(first_only("runs of added logical files", p.n_added_runs));
  return first_only("places of names", p.n_name_places);
}

Status check_index_offsets(const IndexPage& found, const StateSlot& state, std::uint64_t file_bytes) {
  TW_ASSIGN_OR_RETURN(const IndexPage right, layout_index(found, state.index_offset));
  const auto must_be = [](const char* field, std::uint64_t value, std::uint64_t expected) {
    return value == expected ? Status{} : bad_index(field, value, fmt::format("only {}", expected));
  };
  TW_RETURN_IF_ERROR(must_be("offset of files", found.files_offset, right.files_offset));
  TW_RETURN_IF_ERROR(must_be("offset of pieces", found.pieces_offset, right.pieces_offset));
  TW_RETURN_IF_ERROR(must_be("offset of names", found.names_offset, right.names_offset));
  TW_RETURN_IF_ERROR(must_be("offset of attributes", found.attributes_offset, right.attributes_offset));
  TW_RETURN_IF_ERROR(must_be("offset of added runs", found.added_runs_offset, right.added_runs_offset));
  TW_RETURN_IF_ERROR(must_be("offset of places of names", found.name_places_offset, right.name_places_offset));
  TW_RETURN_IF_ERROR(must_be("offset of later ends", found.later_offset, right.later_offset));
  TW_RETURN_IF_ERROR(must_be("end", found.end, right.end));
  TW_RETURN_IF_ERROR(must_be("end", found.end, state.index_offset + state.index_bytes));
  if (found.end > file_bytes)
    return corrupt("the file is truncated: it has {} bytes, its index ends at {}", file_bytes, found.end);
  return {};
}

Status bad_piece(const char* field, std::uint64_t value, const std::string& allowed) {
  return bad_field("piece entry", field, value, allowed);
}

Status check_codec(const PieceEntry& e) {
  if (e.kind == PieceKind::chunk) {
    if (e.codec != Codec::none) return bad_piece("codec", static_cast<std::uint32_t>(e.codec), "for a chunk, only 0");
    if (e.crc != 0) return bad_piece("crc", e.crc, "for a chunk, only 0");
    return {};
  }
  if (e.kind == PieceKind::zeros) return {};
  if (e.kind != PieceKind::packed) return bad_piece("kind", static_cast<std::uint8_t>(e.kind), "1, 2 or 3");
  if (!is_known(e.codec)) {
    return Status::error(Code::unsupported_version,
                         "piece entry: codec {} is not known to this library; a newer one reads the piece",
                         static_cast<std::uint32_t>(e.codec));
  }
  return {};
}

Status check_zeros(const PieceEntry& e) {
  if (e.physical_offset != 0) return bad_piece("physical offset", e.physical_offset, "for zeros, only 0");
  if (e.stored_bytes != 0) return bad_piece("stored bytes", e.stored_bytes, "for zeros, only 0");
  if (e.crc != 0) return bad_piece("crc", e.crc, "for zeros, only 0");
  if (e.codec != Codec::none) return bad_piece("codec", static_cast<std::uint32_t>(e.codec), "for zeros, only 0");
  if (e.later != 0) return bad_piece("later physical file", e.later, "for zeros, only 0");
  return {};
}

Status check_piece_place(const PieceEntry& e, const IndexPage& index) {
  if (e.logical_bytes == 0 || e.logical_bytes > kMaxOffset || e.logical_offset > kMaxOffset - e.logical_bytes)
    return bad_piece("logical bytes", e.logical_bytes, "1 or more, to an end of at most 2^63-1,");
  if (e.kind == PieceKind::zeros) return check_zeros(e);
  if (e.stored_bytes == 0 || (e.codec == Codec::none && e.stored_bytes != e.logical_bytes))
    return bad_piece("stored bytes", e.stored_bytes, "1 or more, without codec the number of logical bytes,");
  if (e.kind == PieceKind::packed && e.logical_bytes > kMostPieceBytes)
    return bad_piece("logical bytes", e.logical_bytes, "in a pack, at most 2^26");
  if (e.kind == PieceKind::packed && e.stored_bytes > most_stored_bytes(e.logical_bytes))
    return bad_piece("stored bytes", e.stored_bytes, fmt::format("at most {}", most_stored_bytes(e.logical_bytes)));
  if (e.later > index.n_later)
    return bad_piece("later physical file", e.later, fmt::format("at most {}", index.n_later));
  const std::uint64_t index_offset = e.later == 0 ? index.files_offset - kPageBytes : kMaxOffset;
  const std::uint64_t front = e.kind == PieceKind::chunk ? kChecksumTableOffset : 0;
  if (e.physical_offset < kFirstSection || e.physical_offset > index_offset ||
      index_offset - e.physical_offset < front || e.stored_bytes > index_offset - e.physical_offset - front)
    return bad_piece("physical offset", e.physical_offset, "a place between 4096 and the index");
  return {};
}

bool key_is_legal(std::string_view key) {
  return !key.empty() && key.size() <= kMostKeyBytes && key.find('\0') == std::string_view::npos;
}

// Takes `bytes` bytes from the front of *rest as text; nothing when there are fewer.
bool take_text(ByteView* rest, std::uint32_t bytes, std::string* text) {
  if (rest->size() < bytes) return false;
  text->assign(reinterpret_cast<const char*>(rest->data()), bytes);
  *rest = rest->subspan(bytes);
  return true;
}

}  // namespace

void encode_file_entry(const FileEntry& e, ByteSpan out_40_bytes) {
  FieldWriter out(out_40_bytes);
  list_file_entry(out, e);
}

void encode_listed_entry(std::uint64_t local, const FileEntry& e, ByteSpan out_48_bytes) {
  store_le(out_48_bytes, local);
  encode_file_entry(e, out_48_bytes.subspan(sizeof local));
}

void encode_piece_entry(const PieceEntry& e, ByteSpan out_40_bytes) {
  FieldWriter out(out_40_bytes);
  // An unknown codec of a directory may be too large a number here: it must stay unknown.
  auto codec = static_cast<std::uint8_t>(std::min(static_cast<std::uint32_t>(e.codec), 0xFEu));
  list_piece_entry(out, e, codec);
}

Result<IndexPage> layout_index(const IndexPage& counts, std::uint64_t offset) {
  IndexPage p = counts;
  std::uint64_t at = offset;
  bool fits = advance(&at, 1, kPagePayload);  // the index page itself
  p.files_offset = at;
  fits = fits && advance(&at, p.n_entries, p.file_entry_bytes());
  p.pieces_offset = at;
  fits = fits && advance(&at, p.n_pieces, kPieceEntryBytes);
  p.names_offset = at;
  fits = fits && advance(&at, p.names_bytes, 1);
  p.attributes_offset = at;
  fits = fits && advance(&at, p.attributes_bytes, 1);
  p.added_runs_offset = at;
  fits = fits && advance(&at, p.n_added_runs, kAddedRunBytes);
  p.name_places_offset = at;
  fits = fits && advance(&at, p.n_name_places, kNamePlaceBytes);
  p.later_offset = at;
  fits = fits && advance(&at, p.n_later, kLaterEndBytes);
  p.end = at;
  if (!fits)
    return Status::error(Code::out_of_range,
                         "an index at offset {} for {} logical files and {} pieces would end beyond 2^63-1", offset,
                         p.n_entries, p.n_pieces);
  return p;
}

std::vector<std::byte> encode_index_page(const IndexPage& p, const FileIdentity& id, std::uint64_t offset) {
  std::vector<std::byte> page(kPageBytes);
  FieldWriter out(page);
  out.put_magic(kIndexMagic);
  list_index(out, p);
  seal(page, id, offset);
  return page;
}

Result<IndexPage> parse_index_page(ByteView page, const FileHeader& header, const StateSlot& state,
                                   std::uint64_t file_bytes) {
  TW_RETURN_IF_ERROR(check_sealed_page("index page", kIndexMagic, page, header.id, state.index_offset));
  FieldReader in(page.subspan(kIndexMagic.size()));
  IndexPage index;
  list_index(in, index);
  TW_RETURN_IF_ERROR(check_index_counts(index, header, state));
  const Status offsets = check_index_offsets(index, state, file_bytes);
  // Counts that lead beyond 2^63-1 are the fault of the file here, not of the caller.
  if (offsets.code() == Code::out_of_range) return corrupt("index page: {}", offsets.message());
  TW_RETURN_IF_ERROR(offsets);
  return index;
}

Result<FileEntry> parse_file_entry(ByteView bytes_40, const IndexPage& index) {
  if (bytes_40.size() != kFileEntryBytes) return bad_size("file entry", bytes_40.size(), kFileEntryBytes);
  FieldReader in(bytes_40);
  FileEntry e;
  list_file_entry(in, e);
  if (e.bytes > kMaxOffset) return bad_field("file entry", "bytes", e.bytes, "at most 2^63-1");
  if (e.n_pieces > index.n_pieces || e.first_piece > index.n_pieces - e.n_pieces)
    return bad_field("file entry", "first piece", e.first_piece,
                     fmt::format("with {} of {} pieces, less", e.n_pieces, index.n_pieces));
  if (e.name_bytes > kMostNameBytes)
    return bad_field("file entry", "bytes of the name", e.name_bytes, fmt::format("at most {}", kMostNameBytes));
  if (e.name_bytes > index.names_bytes || e.name_offset > index.names_bytes - e.name_bytes)
    return bad_field("file entry", "offset of the name", e.name_offset,
                     fmt::format("with {} of {} bytes, less", e.name_bytes, index.names_bytes));
  return e;
}

Result<std::uint64_t> parse_listed_local(ByteView bytes_48, const IndexPage& index) {
  if (bytes_48.size() != kListedEntryBytes) return bad_size("listed file entry", bytes_48.size(), kListedEntryBytes);
  const auto local = load_le<std::uint64_t>(bytes_48);
  if (local < index.n_local || (is_added(local) && local < kLocalsEnd)) return local;
  return bad_field("listed file entry", "local index", local,
                   fmt::format("less than {}, or 2^62 and more", index.n_local));
}

Result<PieceEntry> parse_piece_entry(ByteView bytes_40, const IndexPage& index) {
  if (bytes_40.size() != kPieceEntryBytes) return bad_size("piece entry", bytes_40.size(), kPieceEntryBytes);
  FieldReader in(bytes_40);
  PieceEntry e;
  std::uint8_t codec = 0;
  list_piece_entry(in, e, codec);
  e.codec = Codec{codec};
  TW_RETURN_IF_ERROR(check_codec(e));
  TW_RETURN_IF_ERROR(check_piece_place(e, index));
  return e;
}

void encode_added_run(const AddedRun& run, ByteSpan out_24_bytes) {
  FieldWriter out(out_24_bytes);
  move_fields(out, run.first, run.count, run.physical);
}

Result<AddedRun> parse_added_run(ByteView bytes_24, std::uint64_t least, std::uint32_t n_physical) {
  FieldReader in(bytes_24);
  AddedRun run;
  move_fields(in, run.first, run.count, run.physical);
  if (run.first < std::max(least, kFirstAdded) || run.first >= kLocalsEnd)
    return bad_field("run of added logical files", "first", run.first, fmt::format("{} or more", least));
  if (run.count == 0 || run.count > kLocalsEnd - run.first)
    return bad_field("run of added logical files", "count", run.count, "1 or more, to an end below 2^63");
  if (run.physical < n_physical) return run;
  return bad_field("run of added logical files", "physical file", run.physical,
                   fmt::format("less than {}", n_physical));
}

void encode_name_place(const NamePlace& place, ByteSpan out_16_bytes) {
  FieldWriter out(out_16_bytes);
  move_fields(out, place.hash, place.physical, place.local);
}

Result<NamePlace> parse_name_place(ByteView bytes_16, std::uint32_t n_physical) {
  FieldReader in(bytes_16);
  NamePlace place;
  move_fields(in, place.hash, place.physical, place.local);
  if (place.physical < n_physical) return place;
  return bad_field("place of a name", "physical file", place.physical, fmt::format("less than {}", n_physical));
}

Status check_later_end(std::uint64_t end) {
  if (end == 0 || (end >= kFirstSection && end <= kMaxOffset)) return {};
  return bad_field("end of a later physical file", "value", end, "0, or 4096 to 2^63-1");
}

std::vector<std::byte> encode_attributes(const Attributes& attributes) {
  std::size_t bytes = 0;
  for (const auto& [key, value] : attributes) bytes += 8 + key.size() + value.size();
  std::vector<std::byte> out(bytes);
  FieldWriter writer(out);
  for (const auto& [key, value] : attributes) {
    writer.put(static_cast<std::uint32_t>(key.size())).put(static_cast<std::uint32_t>(value.size()));
    writer.put_bytes(std::as_bytes(std::span(key))).put_bytes(std::as_bytes(std::span(value)));
  }
  return out;
}

Result<Attributes> parse_attributes(ByteView bytes) {
  Attributes attributes;
  ByteView rest = bytes;
  while (!rest.empty()) {
    const std::string where = fmt::format("attributes, at byte {}", bytes.size() - rest.size());
    if (rest.size() < 8) return corrupt("{}: they end within a pair", where);
    const auto key_bytes = load_le<std::uint32_t>(rest);
    const auto value_bytes = load_le<std::uint32_t>(rest.subspan(4));
    rest = rest.subspan(8);
    std::string key, value;
    if (!take_text(&rest, key_bytes, &key) || !take_text(&rest, value_bytes, &value))
      return corrupt("{}: a key of {} and a value of {} bytes reach beyond their end", where, key_bytes, value_bytes);
    if (!key_is_legal(key)) return corrupt("{}: keys have 1 to 255 bytes without NUL", where);
    if (!attributes.empty() && key <= attributes.rbegin()->first)
      return corrupt("{}: the keys are not ascending", where);
    attributes.emplace_hint(attributes.end(), std::move(key), std::move(value));
  }
  return attributes;
}

}  // namespace thalweg::format
