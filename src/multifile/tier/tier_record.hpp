// The record of a folder in the tier of a node (its file .tier-record), and the names of a multifile while it is drained
// to the file system that the nodes share.
//
// TIER/thalweg-ID.PART       the part of node number PART: its record, and physical files that hold the bytes of this
//                            node at their offsets, and holes for those of others
// TIER/thalweg-ID.PART.copy  a copy of that, on the partner node
// NAME.draining-ID           physical file 0 while the parts arrive, at its side NAME.draining-ID.000001, ...
// NAME.draining-ID.partPART  how far the drain of that part is (PartState)
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include "base/wire.hpp"
#include "storage/backend.hpp"

namespace thalweg {

inline constexpr std::uint8_t kTierUuid = 0x80;  // in byte 6: the first bytes tell the time (RFC 9562, version 8)

// The record but for the name, as it is stored.
struct TierHead {
  std::array<std::uint8_t, 16> uuid{};
  std::uint64_t created_seconds = 0;
  std::uint32_t part = 0;  // that of physical file 0's beginning and end: 0
  std::uint32_t n_parts = 1;
  bool closed = false;  // all parts are complete
  bool copy = false;
  bool exclusive = false, overwrite_foreign = false;  // of the creation
  std::uint32_t reserved = 0;
};

struct TierRecord : TierHead {
  std::string final_path;  // absolute

  std::string folder_in(const std::string& tier) const;
  std::string file_in(const std::string& folder) const;  // physical file 0
  std::string draining_path() const;
  std::string part_path(std::uint32_t number) const;
};

inline constexpr const char* kRecordName = "/.tier-record";
inline constexpr const char* kTierFolderBegins = "thalweg-";

Bytes encode_record(const TierRecord& record);
Result<TierRecord> decode_record(ByteView bytes, const std::string& where);  // `where`: for messages
// Makes a folder, and the file of its record, empty and locked.
Result<std::unique_ptr<StoredFile>> make_tier_folder(Backend& backend, const std::string& folder);
// The failure of a call on folders.
Status folder_status(const std::error_code& error, const char* verb, const std::string& path);
// OK where there is no such folder.
Status remove_tier_folder(const std::string& path);

}  // namespace thalweg
