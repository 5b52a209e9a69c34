// Shared by all structures of a multifile: constants, the identity that binds checksums, slab arithmetic.
//
// Everything in src/multifile/format is pure: bytes and numbers in, bytes and numbers out (docs/format/multifile.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "store/format/bound_seal.hpp"

namespace thalweg::format {

inline constexpr std::uint64_t kPageBytes = 4096;
inline constexpr std::uint64_t kPagePayload = 4080;
inline constexpr std::uint64_t kHeaderBytes = 512;
inline constexpr std::uint64_t kSlotOffset[2] = {512, 1024};
inline constexpr std::uint64_t kSlotBytes = 128;
inline constexpr std::uint64_t kFirstSection = 4096;
inline constexpr std::uint64_t kChecksumTableOffset = 192;
inline constexpr std::uint64_t kDirectoryOffset = 128;
inline constexpr std::uint64_t kDirectoryEntryBytes = 48;
inline constexpr std::uint64_t kFileEntryBytes = 40;
inline constexpr std::uint64_t kListedEntryBytes = 48;  // a file entry behind its local index
inline constexpr std::uint64_t kPieceEntryBytes = 40;
inline constexpr std::uint64_t kAddedRunBytes = 24;
inline constexpr std::uint64_t kNamePlaceBytes = 16;
inline constexpr std::uint64_t kSequencePerSession = 1ull << 40;
inline constexpr std::uint32_t kMostSession = (1u << 24) - 1;  // a sequence has 24 bits for it
inline constexpr std::uint32_t kMostDoublings = 40;
inline constexpr std::uint64_t kMostPieceBytes = std::uint64_t{1} << 26;  // of a pack, logical
inline constexpr std::uint64_t kMostPackPieces = std::uint64_t{1} << 20;  // its directory is read as a whole
// The most bytes that a codec may make of so many logical bytes: a bound for memory that an entry asks for.
constexpr std::uint64_t most_stored_bytes(std::uint64_t logical_bytes) {
  return logical_bytes + logical_bytes / 128 + 4096;
}
inline constexpr std::uint64_t kMaxOffset = (1ull << 63) - 1;

// A logical file that a task added has a number, which takes the place of its rank and of its local index: from
// kFirstAdded on, ascending with the session, the task and the order of the adds.
inline constexpr std::uint64_t kFirstAdded = 1ull << 62;
inline constexpr std::uint64_t kAddedPerTask = 1ull << 32;  // in one session
inline constexpr std::uint64_t kLocalsEnd = kMaxOffset;     // behind all local indices and numbers
constexpr bool is_added(std::uint64_t local) { return local >= kFirstAdded; }

// Checks the size, the magic bytes and the seal of a page.
Status check_sealed_page(const std::string& structure, std::string_view magic, ByteView page, const FileIdentity& id,
                         std::uint64_t offset);

constexpr std::uint64_t align_up(std::uint64_t x, std::uint64_t a) { return (x + a - 1) / a * a; }

// Number of pages of a section of `entries` entries of `entry_bytes` each.
constexpr std::uint64_t section_pages(std::uint64_t entries, std::uint64_t entry_bytes) {
  const std::uint64_t per_page = kPagePayload / entry_bytes;
  return entries / per_page + (entries % per_page != 0);
}

inline constexpr std::size_t kSectionKinds = 12;
enum class SectionKind : std::uint32_t {
  bounds = 1,
  table = 2,
  ranks = 3,
  domains = 4,
  files = 5,
  pieces = 6,
  names = 7,
  attributes = 8,
  listed_files = 9,
  added_runs = 10,
  name_places = 11,
  later_ends = 12
};

// Fills in kind, page number and crc of one page whose first 4080 bytes hold entries. `offset`: where the page lies.
void seal_page(ByteSpan page, SectionKind kind, std::uint64_t page_number, const FileIdentity& id,
               std::uint64_t offset);
// Checks one page; corrupt_file names `offset` otherwise.
Status check_page(ByteView page, SectionKind kind, std::uint64_t page_number, const FileIdentity& id,
                  std::uint64_t offset);
// Appends the pages of a whole section to `out`; the section will lie at `offset`.
void append_section(std::vector<std::byte>& out, SectionKind kind, ByteView entries, std::uint64_t entry_bytes,
                    const FileIdentity& id, std::uint64_t offset);
// The entries in the pages of a section from page `first` on, which lies at `offset`.
Result<std::vector<std::byte>> parse_section(ByteView pages, SectionKind kind, std::uint64_t n_entries,
                                             std::uint64_t entry_bytes, const FileIdentity& id, std::uint64_t offset,
                                             std::uint64_t first = 0);

// The places of slabs: section 3 of the format document.
struct SlabLayout {
  std::uint64_t data_start = 0;
  std::uint64_t round_bytes = 0;    // sum over all domains in round 0
  std::uint64_t domain_prefix = 0;  // sum over the domains before this one
  std::uint64_t domain_bytes = 0;   // slab bytes of this domain in round 0
  std::uint32_t rounds_per_doubling = 0;
  std::uint32_t most_doublings = 0;
};
struct Slab {
  std::uint64_t start = 0;
  std::uint64_t bytes = 0;
};
// Slab k of the domain; out_of_range when it would end beyond 2^63-1.
Result<Slab> slab_at(const SlabLayout& layout, std::uint64_t k);

// "NAME" for 0, else "NAME.%06u".
std::string physical_name(const std::string& name, std::uint32_t physical);
std::string uuid_text(const std::array<std::uint8_t, 16>& uuid);

}  // namespace thalweg::format
