// File header, state slots and session page of a multifile: sections 2.1 to 2.3 of the format document.
//
// parse_* check every field: they return corrupt_file or unsupported_version with the field named. Fields that depend
// on the size of the file are checked against `file_bytes`.
#pragma once

#include <optional>

#include "multifile/format/layout.hpp"

namespace thalweg::format {

enum class Mapping : std::uint32_t { consecutive = 0, table = 1 };
enum class Checksum : std::uint32_t { none = 0, crc32c = 1 };

inline constexpr std::uint16_t kMajorVersion = 4;

struct FileHeader {
  std::uint16_t major = kMajorVersion;
  std::uint16_t minor = 0;
  FileIdentity id;
  std::uint64_t required_features = 0;
  std::uint64_t optional_features = 0;
  std::uint64_t n_logical = 0;
  std::uint64_t n_local = 0;
  std::uint64_t first_rank = 0;
  std::uint32_t n_physical = 1;
  Mapping mapping = Mapping::consecutive;
  Checksum checksum = Checksum::crc32c;
  std::uint32_t alignment = 4096;
  std::uint32_t granule = 65536;
  std::uint64_t map_offset = 0;      // bounds or table section; only in physical file 0
  std::uint64_t ranks_offset = 0;    // only with Mapping::table
  std::uint64_t session_offset = 0;  // session page of session 0
  std::uint64_t created_seconds = 0;
  // Physical files that a process makes when it needs space: numbers n_physical to n_physical + n_later - 1. They hold
  // frames only. With some there is one other physical file, and no table.
  std::uint32_t n_later = 0;
  bool is_later() const { return id.physical >= n_physical; }
};
// The header of later physical file `number`.
FileHeader later_header(const FileHeader& first, std::uint32_t number);
std::array<std::byte, kHeaderBytes> encode_header(const FileHeader& header);
// The magic bytes at the beginning of every physical file.
inline constexpr std::size_t kMagicBytes = 8;
bool begins_as_multifile(ByteView bytes);
Result<FileHeader> parse_header(ByteView first_512_bytes, std::uint64_t file_bytes);

struct StateSlot {
  std::uint64_t sequence = 1;
  FileState state = FileState::open;
  std::uint32_t session = 0;
  std::uint64_t session_offset = 0;
  std::uint64_t end = 0;
  std::uint64_t index_offset = 0;
  std::uint64_t index_bytes = 0;
  // In a closed file: this slot was written after everything in the index was durable.
  bool durable = false;
  // Session page of the last session that the index covers; 0: there is no index.
  std::uint64_t covered_session_offset = 0;
};
std::array<std::byte, kSlotBytes> encode_state(const StateSlot& slot, const FileIdentity& id);
// The offset of the place for `slot`, which follows from its sequence.
std::uint64_t state_offset(const StateSlot& slot);
// The state that closes the session of `open`, with an index from `index_offset` to `end`.
StateSlot closed_state(const StateSlot& open, std::uint64_t index_offset, std::uint64_t end, bool durable);
// Reads the slots of both 512-byte places. The valid one with the higher sequence is the state, the other valid one the
// state before; corrupt_file where none is valid.
Result<StateSlot> parse_state(ByteView place_a, ByteView place_b, const FileIdentity& id,
                              std::optional<StateSlot>* before = nullptr);

struct SessionPage {
  std::uint32_t session = 0;
  std::uint32_t rounds_per_doubling = 0;
  std::uint64_t previous_offset = 0;
  std::uint64_t n_domains = 1;
  std::uint64_t domains_offset = 0;
  std::uint64_t data_start = 0;
  std::uint64_t round_bytes = 0;
  std::uint32_t most_doublings = 0;
  // The slabs of the session in each later physical file, where there are such: domains of equal size.
  std::uint32_t later_doublings = 0;
  std::uint64_t later_start = 0;
  std::uint64_t later_domains = 0;
  std::uint64_t later_bytes = 0;  // of each domain in round 0
  SlabLayout later_layout(std::uint64_t domain) const {
    return {later_start, later_domains * later_bytes, domain * later_bytes,
            later_bytes, rounds_per_doubling,         later_doublings};
  }
};
std::vector<std::byte> encode_session(const SessionPage& page, const FileIdentity& id, std::uint64_t offset);
Result<SessionPage> parse_session(ByteView page, const FileHeader& header, std::uint64_t offset,
                                  std::uint64_t file_bytes);

}  // namespace thalweg::format
