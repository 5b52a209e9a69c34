// Places of the bytes of all streams in the data file of a vpfile: section 1 of docs/format/vpfile.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>

#include "base/status.hpp"

namespace thalweg::format {

// The side files of the directory, with the numbers of their identities: NAME.first, NAME.dir, NAME.batches. The first
// two hold entries; an array with one element for each of these.
enum class DirectoryFile : std::uint32_t { first = 1, overflow = 2, batches = 4 };
inline constexpr DirectoryFile kDirectoryFiles[2] = {DirectoryFile::first, DirectoryFile::overflow};
inline constexpr DirectoryFile kSideFiles[3] = {DirectoryFile::first, DirectoryFile::overflow, DirectoryFile::batches};
template <class T>
class PerDirectoryFile {
 public:
  T& operator[](DirectoryFile which) { return all_[static_cast<std::uint32_t>(which) - 1]; }
  const T& operator[](DirectoryFile which) const { return all_[static_cast<std::uint32_t>(which) - 1]; }

 private:
  std::array<T, 2> all_{};
};

inline constexpr std::uint64_t kMostVps = std::uint64_t{1} << 40;
inline constexpr std::size_t kMostDimensions = 64;
inline constexpr std::uint64_t kLeastBlock = 16;
inline constexpr std::uint64_t kMostBlock = std::uint64_t{1} << 20;
inline constexpr std::uint64_t kLeastSuperblock = 4096;
inline constexpr std::uint64_t kMostSuperblock = std::uint64_t{1} << 24;
inline constexpr std::uint64_t kBlocksPerSuperblock = 8;  // at least
inline constexpr std::uint32_t kMostPointers = 64;
inline constexpr std::uint64_t kCbAlignment = 4096;
inline constexpr std::uint64_t kSuperblockHeader = 256;  // the frame, its fill slots, reserved bytes

struct VpGeometry {
  std::uint64_t n = 1;             // VPs
  std::uint64_t record_bytes = 0;  // of the NB segment; 0: none
  std::uint64_t nb_bytes = 0;      // of each stream
  std::uint64_t buffer_bytes = 0;  // of the CB segment; 0: none
  std::uint64_t cb_bytes = 0;      // of each stream
  std::uint32_t block_bytes = 0;   // of the IB segment; 0: none
  std::uint32_t superblock_bytes = 0;
  std::uint32_t pointers = 0;  // of a directory entry
  std::uint64_t first_superblock = 0;
  bool operator==(const VpGeometry&) const = default;

  bool has_ib() const { return block_bytes != 0; }
  std::uint64_t lattice_bytes() const { return nb_bytes + cb_bytes; }  // of each stream
  // Offsets in the data file. The CB segment has a begin as soon as it has a round size, before its first byte.
  std::uint64_t cb_begin() const;
  std::uint64_t lattice_end() const;
  // Blocks that the header of a superblock takes.
  std::uint64_t header_blocks() const { return (kSuperblockHeader + block_bytes - 1) / block_bytes; }
};

// Checks every field by its rule, and that no segment ends above 2^63-1. corrupt_file names the field.
Status check_geometry(const VpGeometry& geometry);

// corrupt_file unless these fields of `structure` are all 0.
Status check_zero(const char* structure, std::initializer_list<std::pair<const char*, std::uint64_t>> fields);

// A row: the bytes of all VPs in one record of the NB segment or one round of the CB segment, VP after VP.
struct LatticeRow {
  std::uint64_t begin = 0;        // offset in each stream
  std::uint64_t bytes = 0;        // of each stream
  std::uint64_t file_offset = 0;  // of the bytes of VP 0
  std::uint64_t offset_of(std::uint64_t vp) const { return file_offset + vp * bytes; }
  std::uint64_t end() const { return begin + bytes; }
  bool operator==(const LatticeRow&) const = default;
};
// The row of byte `at` of a stream, also beyond its present end: in the NB segment where `at` is below nb_bytes or
// there is no CB segment, else in the CB segment.
LatticeRow row_at(const VpGeometry& geometry, std::uint64_t at);

}  // namespace thalweg::format
