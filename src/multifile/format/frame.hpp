// Frames of chunks and packs: section 4 of the format document.
#pragma once

#include <optional>
#include <string_view>

#include "multifile/format/header.hpp"
#include "store/format/fill_slot.hpp"

namespace thalweg::format {

// name: in the directory of a pack, the name of the logical file in place of its bytes.
enum class Codec : std::uint32_t { none = 0, lz4 = 1, zstd = 2, name = 255 };
constexpr bool is_known(Codec codec) { return static_cast<std::uint32_t>(codec) <= 2; }

struct Frame {
  std::uint64_t offset = 0;  // of the frame in the physical file; not stored in it
  FrameKind kind = FrameKind::reserved;
  std::uint32_t session = 0;
  std::uint64_t extent = 0;          // bytes to the next frame
  std::uint64_t data_offset = 0;     // from the start of the frame
  std::uint64_t rank = 0;            // chunk
  std::uint64_t sequence = 0;        // chunk
  std::uint64_t logical_offset = 0;  // chunk
  std::uint64_t end_before = 0;      // chunk: bytes of the logical file when it was placed
  std::uint64_t n_pieces = 0;        // pack
  std::uint64_t payload_bytes = 0;   // pack
  std::uint32_t directory_crc = 0;   // pack
  std::uint64_t later = 0;           // later: number of the physical file
  std::uint64_t capacity() const { return extent - data_offset; }
  std::uint64_t data() const { return offset + data_offset; }  // offset of the data in the physical file
  std::uint64_t end() const { return offset + extent; }
};
std::array<std::byte, kFrameBytes> encode_frame(const Frame& frame, const FileIdentity& id);

// No value where the bytes are no valid frame. `room`: bytes from the frame to the end of its slab, or of the file
// where the slab is not known. Checks everything in the document, including that data_offset leaves room for table or
// directory, except for the session, which the caller compares, and with a table mapping for the physical file of the
// rank.
std::optional<Frame> parse_frame(ByteView first_128_bytes, const FileHeader& header, std::uint64_t offset,
                                 std::uint64_t room);

// Bytes in front of the data of a chunk with `capacity` data bytes: frame, slots, table, up to alignment.
std::uint64_t chunk_data_offset(std::uint64_t capacity, const FileHeader& header);
// Largest data area of a chunk with this extent, a multiple of the alignment; 0 where none fits.
std::uint64_t chunk_capacity(std::uint64_t extent, const FileHeader& header);

struct DirectoryEntry {
  std::uint64_t rank = 0;
  std::uint64_t sequence = 0;
  std::uint64_t logical_offset = 0;
  std::uint64_t end_before = 0;  // bytes of the logical file when the piece was stored
  std::uint32_t logical_bytes = 0;
  std::uint32_t stored_bytes = 0;
  std::uint32_t crc = 0;
  Codec codec = Codec::none;
};
// A name as a pack stores it: the POSIX mode, then the name.
inline constexpr std::size_t kNameModeBytes = sizeof(std::uint32_t);
std::vector<std::byte> encode_name(std::string_view name, std::uint32_t mode);
// A stored name is text without NUL; that of a part of an array has a NUL and the number of the part behind it.
inline constexpr std::size_t kLongestName = 4096;
inline constexpr std::size_t kPartBytes = 1 + sizeof(std::uint64_t);
inline constexpr std::size_t kMostNameBytes = kLongestName + kPartBytes;
std::string name_of_part(std::string_view name, std::uint64_t part);
std::int64_t part_of(std::string_view stored);  // -1: no part
bool name_is_legal(std::string_view stored);
std::string shown_name(std::string_view stored);  // in a message

void encode_directory_entry(const DirectoryEntry& entry, ByteSpan out_48_bytes);
// Checks the crc of the directory, each field, and that the stored bytes sum up to the payload. An entry may have an
// unknown codec (is_known): then only that piece is refused.
Result<std::vector<DirectoryEntry>> parse_directory(ByteView bytes, const Frame& frame, const FileHeader& header);

}  // namespace thalweg::format
