// Bound checksums: section 2 of docs/format/store.md. Everything in src/store/format is pure: bytes and numbers in,
// bytes and numbers out.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/endian.hpp"

namespace thalweg::format {

// Binds every checksum of metadata to one file of a set: a physical file of a multifile, or a file of a vpfile.
struct FileIdentity {
  std::array<std::uint8_t, 16> uuid{};
  std::uint32_t physical = 0;
  bool operator==(const FileIdentity&) const = default;
};

// CRC32C of identity, offset and bytes.
std::uint32_t bound_crc(const FileIdentity& id, std::uint64_t offset, ByteView bytes);

// Whether the last four bytes of a structure at `offset` are the bound checksum of those before them.
bool is_sealed(ByteView bytes, const FileIdentity& id, std::uint64_t offset);
// Stores that checksum.
void seal(ByteSpan bytes, const FileIdentity& id, std::uint64_t offset);

// The first bytes of every frame (section 3), and the kinds of frames.
inline constexpr std::string_view kFrameMagic = "TWFRAME1";
inline constexpr std::uint64_t kFrameBytes = 128;
// later: the process of the domain writes into a later physical file from now on.
enum class FrameKind : std::uint32_t { reserved = 0, chunk = 1, pack = 2, superblock = 3, later = 4 };

// State of a file between sessions and within one.
enum class FileState : std::uint32_t { open = 1, closed = 2 };

bool all_zero(ByteView bytes);  // as where nothing was written

// Slots are written in turns: the number of the one with this sequence. Odd ones are the first.
constexpr int slot_of(std::uint64_t sequence) { return sequence % 2 == 1 ? 0 : 1; }

}  // namespace thalweg::format
