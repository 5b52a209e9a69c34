// Pointers to the blocks of a VP, the entries of NAME.first and NAME.dir that hold them, and the sums of the entries.
// Sections 4 to 6 of docs/format/vpfile.md.
#pragma once

#include <cassert>

#include "base/endian.hpp"
#include "base/mix.hpp"
#include "vpfile/format/meta.hpp"

namespace thalweg::format {

inline constexpr std::uint64_t kDirectoryHeader = 64;
inline constexpr std::uint64_t kFirstEntry = 4096;  // offset in either file
inline constexpr std::uint64_t kMostRun = 4096;     // blocks of a pointer
inline constexpr std::uint64_t kMostHole = std::uint64_t{1} << 59;

// A run: consecutive blocks of one VP in a superblock; or a hole, blocks that were never written.
struct BlockRun {
  std::uint64_t address = 0;  // of its first block: offset in the data file, in blocks; 0: a hole
  std::uint64_t blocks = 0;   // 0: no run
  bool is_hole() const { return address == 0; }
  bool operator==(const BlockRun&) const = default;
};
inline constexpr std::uint64_t kHolePointer = std::uint64_t{1} << 63;
inline constexpr unsigned kRunBits = 12;
inline std::uint64_t encode_pointer(BlockRun run) {
  assert(run.blocks >= 1 && run.blocks <= (run.is_hole() ? kMostHole : kMostRun));
  return run.is_hole() ? kHolePointer | run.blocks : run.address << kRunBits | (run.blocks - 1);
}
inline BlockRun decode_pointer(std::uint64_t pointer) {
  if (pointer == 0) return {};
  if ((pointer & kHolePointer) != 0) return {0, pointer & ~kHolePointer};
  return {pointer >> kRunBits, (pointer & (kMostRun - 1)) + 1};
}

inline FileIdentity side_identity(const FileIdentity& id, DirectoryFile which) {
  return {id.uuid, static_cast<std::uint32_t>(which)};
}
// The header of a side file of the vpfile with this identity and geometry.
std::array<std::byte, kDirectoryHeader> encode_directory_header(DirectoryFile which, const FileIdentity& id,
                                                                const VpGeometry& geometry);
bool begins_as_directory(ByteView file);  // as NAME.first or NAME.dir
// corrupt_file unless it is the header that this vpfile must have.
Status check_directory_header(ByteView bytes, DirectoryFile which, const FileIdentity& id, const VpGeometry& geometry);

// The fields of an entry in its bytes. `amount`: in NAME.first the bytes of the stream in the IB segment; in NAME.dir
// the index of the entry's first block.
class EntryView {
 public:
  explicit EntryView(ByteSpan bytes) : bytes_(bytes) {}
  std::uint64_t link() const { return load_le<std::uint64_t>(bytes_); }
  std::uint64_t amount() const { return load_le<std::uint64_t>(bytes_.subspan(8)); }
  std::uint32_t session() const { return tail(16); }  // that wrote it last
  std::uint32_t before() const { return tail(12); }   // its checksum before that session; 0: it was empty
  std::uint32_t used() const { return tail(8); }
  std::uint32_t crc() const { return tail(4); }
  BlockRun run(std::uint32_t i) const { return decode_pointer(load_le<std::uint64_t>(bytes_.subspan(16 + 8 * i))); }
  void set_link(std::uint64_t link) { store_le(bytes_, link); }
  void set_amount(std::uint64_t amount) { store_le(bytes_.subspan(8), amount); }
  void set_session(std::uint32_t session) { store_le(bytes_.subspan(bytes_.size() - 16), session); }
  void set_before(std::uint32_t crc) { store_le(bytes_.subspan(bytes_.size() - 12), crc); }
  void set_used(std::uint32_t used) { store_le(bytes_.subspan(bytes_.size() - 8), used); }
  void set_run(std::uint32_t i, BlockRun run) { store_le(bytes_.subspan(16 + 8 * i), encode_pointer(run)); }
  void clear_run(std::uint32_t i) { store_le(bytes_.subspan(16 + 8 * i), std::uint64_t{0}); }

 private:
  std::uint32_t tail(std::size_t from_end) const {
    return load_le<std::uint32_t>(bytes_.subspan(bytes_.size() - from_end));
  }
  ByteSpan bytes_;
};

inline std::uint64_t entry_bytes(std::uint32_t pointers) { return 32 + 8 * std::uint64_t{pointers}; }
// `number`: in NAME.first the VP; in NAME.dir counted from 1.
inline std::uint64_t entry_offset(DirectoryFile which, std::uint32_t pointers, std::uint64_t number) {
  return kFirstEntry + (which == DirectoryFile::first ? number : number - 1) * entry_bytes(pointers);
}
// An entry has a bound checksum (seal()). corrupt_file: it does not match, or a pointer is invalid. An entry of zeros is
// empty.
Status check_entry(ByteView entry, DirectoryFile which, const FileIdentity& id, std::uint64_t number);

// Sums of the entries of both files, in NAME.meta. With them a reader of a closed vpfile detects entries that are lost
// or outdated.
inline constexpr std::uint64_t kEntriesPerSum = 512;
inline constexpr std::uint64_t kSumsPerPage = 512;
inline constexpr std::uint64_t kSumPageBytes = 8 * kSumsPerPage;
inline std::uint64_t sums_for(std::uint64_t entries) { return (entries + kEntriesPerSum - 1) / kEntriesPerSum; }
inline constexpr std::uint64_t kFirstSums = 2 * kMetaSlotStep;  // offset in NAME.meta of the sums of NAME.first

// Offset in NAME.meta of the sums of a side file, page after page.
inline std::uint64_t sums_offset(DirectoryFile which, std::uint64_t n) {
  constexpr std::uint64_t kVpsPerPage = kEntriesPerSum * kSumsPerPage;
  return which == DirectoryFile::first ? kFirstSums : kFirstSums + (n + kVpsPerPage - 1) / kVpsPerPage * kSumPageBytes;
}

// Summand of an entry in its sum, from its number and checksum. An empty entry has checksum 0 and adds nothing.
inline std::uint64_t entry_hash(std::uint64_t number, std::uint32_t crc) {
  return crc == 0 ? 0 : mix(number << 32 | crc);
}
// Summand of sum number `at` in the seal of all sums of a side file; a sum of 0 adds nothing.
inline std::uint64_t sum_hash(std::uint64_t at, std::uint64_t sum) { return sum == 0 ? 0 : mix(mix(at) ^ sum); }

}  // namespace thalweg::format
