// The index of a multifile: section 6 of the format document.
#pragma once

#include <compare>
#include <map>
#include <tuple>

#include "multifile/format/frame.hpp"

namespace thalweg::format {

struct FileEntry {
  std::uint64_t bytes = 0;
  std::uint64_t first_piece = 0;
  std::uint32_t n_pieces = 0;
  std::uint32_t mode = 0;
  std::uint64_t name_offset = 0;
  std::uint32_t name_bytes = 0;
  std::uint32_t flags = 0;
};
inline constexpr std::uint32_t kFileDamaged = 1;

// zeros: bytes that are known to be zero and not stored.
enum class PieceKind : std::uint8_t { chunk = 1, packed = 2, zeros = 3 };
struct PieceEntry {
  std::uint64_t logical_offset = 0;
  std::uint64_t physical_offset = 0;  // chunk: of the frame; packed: of the stored bytes; zeros: 0
  std::uint64_t logical_bytes = 0;
  std::uint64_t stored_bytes = 0;
  std::uint32_t crc = 0;
  PieceKind kind = PieceKind::chunk;
  Codec codec = Codec::none;
  std::uint16_t later = 0;  // the later physical file in which it lies; 0: that of the index
};

void encode_file_entry(const FileEntry& entry, ByteSpan out_40_bytes);
void encode_listed_entry(std::uint64_t local, const FileEntry& entry, ByteSpan out_48_bytes);
void encode_piece_entry(const PieceEntry& entry, ByteSpan out_40_bytes);

struct IndexPage {
  std::uint32_t session = 0;
  std::uint64_t n_local = 0;
  std::uint64_t n_entries = 0;  // file entries: n_local, or fewer, which are then listed with their local indices
  std::uint64_t n_pieces = 0;
  std::uint64_t names_bytes = 0;
  std::uint64_t attributes_bytes = 0;
  std::uint64_t n_added = 0;        // of the file entries: of logical files that tasks added
  std::uint64_t n_added_runs = 0;   // only in physical file 0, for all physical files
  std::uint64_t n_name_places = 0;  // likewise
  std::uint64_t n_later = 0;        // later physical files that there may be
  std::uint64_t files_offset = 0, pieces_offset = 0, names_offset = 0, attributes_offset = 0, added_runs_offset = 0,
                name_places_offset = 0, later_offset = 0, end = 0;

  bool is_listed() const { return n_added > 0 || n_entries != n_local; }
  SectionKind files_kind() const { return is_listed() ? SectionKind::listed_files : SectionKind::files; }
  std::uint64_t file_entry_bytes() const { return is_listed() ? kListedEntryBytes : kFileEntryBytes; }
};
// Fills in the offsets and the end that follow from the counts, for an index that starts at `offset`.
Result<IndexPage> layout_index(const IndexPage& counts, std::uint64_t offset);
std::vector<std::byte> encode_index_page(const IndexPage& page, const FileIdentity& id, std::uint64_t offset);
// Checks all counts and offsets against each other, the state slot and the file size.
Result<IndexPage> parse_index_page(ByteView page, const FileHeader& header, const StateSlot& state,
                                   std::uint64_t file_bytes);

// One entry out of its page bytes (already checked by check_page); checks every field against the index page.
// A piece with a codec that is not known here is unsupported_version.
Result<FileEntry> parse_file_entry(ByteView bytes_40, const IndexPage& index);
// The local index of a listed entry, in front of the 40 bytes of the entry.
Result<std::uint64_t> parse_listed_local(ByteView bytes_48, const IndexPage& index);
Result<PieceEntry> parse_piece_entry(ByteView bytes_40, const IndexPage& index);

// Added logical files with consecutive numbers in one physical file. All of them, by number, have the ranks behind the
// numbered logical files.
struct AddedRun {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  std::uint32_t physical = 0;
  bool operator==(const AddedRun&) const = default;
};
void encode_added_run(const AddedRun& run, ByteSpan out_24_bytes);
// `least`: the end of the run before.
Result<AddedRun> parse_added_run(ByteView bytes_24, std::uint64_t least, std::uint32_t n_physical);

// Where the logical file of a name is. Those of a multifile are sorted: a name is found by its hash, the CRC32C.
struct NamePlace {
  std::uint32_t hash = 0;
  std::uint32_t physical = 0;
  std::uint64_t local = 0;
  // Added logical files come behind the others, by number.
  std::strong_ordering operator<=>(const NamePlace& other) const {
    if (hash != other.hash) return hash <=> other.hash;
    if (is_added(local) || is_added(other.local)) return local <=> other.local;
    return std::tuple(physical, local) <=> std::tuple(other.physical, other.local);
  }
  bool operator==(const NamePlace&) const = default;
};
void encode_name_place(const NamePlace& place, ByteSpan out_16_bytes);
Result<NamePlace> parse_name_place(ByteView bytes_16, std::uint32_t n_physical);

// The index has the end of each later physical file, 8 bytes each; 0: it was never made.
inline constexpr std::uint64_t kLaterEndBytes = 8;
Status check_later_end(std::uint64_t end);

using Attributes = std::map<std::string, std::string>;
std::vector<std::byte> encode_attributes(const Attributes& attributes);
Result<Attributes> parse_attributes(ByteView bytes);

}  // namespace thalweg::format
