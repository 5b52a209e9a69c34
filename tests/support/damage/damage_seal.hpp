// Recomputes the checksums of a changed physical file wherever a structure is still recognisable, so that damage
// reaches the checks of the fields. For tests and fuzz targets.
#pragma once

#include <cstring>
#include <vector>

#include "base/crc32c.hpp"
#include "base/endian.hpp"
#include "multifile/format/header.hpp"
#include "multifile/format/layout.hpp"

namespace thalweg::test {

using FileBytes = std::vector<std::byte>;

inline bool begins_with(const FileBytes& file, std::uint64_t at, const char* magic) {
  return at + 8 <= file.size() && std::memcmp(file.data() + at, magic, 8) == 0;
}

inline format::FileIdentity identity_of(const FileBytes& file) {
  format::FileIdentity id;
  std::memcpy(id.uuid.data(), file.data() + 16, id.uuid.size());
  id.physical = load_le<std::uint32_t>(ByteView(file).subspan(76));
  return id;
}

// Recomputes the bound crc at the end of file[at, at + bytes).
inline void seal(FileBytes& file, const format::FileIdentity& id, std::uint64_t at, std::uint64_t bytes) {
  if (at + bytes > file.size()) return;
  const ByteSpan body = ByteSpan(file).subspan(at, bytes - 4);
  store_le(ByteSpan(file).subspan(at + bytes - 4), format::bound_crc(id, at, body));
}

inline bool is_page(const FileBytes& file, std::uint64_t at) {
  const auto kind = load_le<std::uint32_t>(ByteView(file).subspan(at + format::kPagePayload));
  const bool section = kind >= 1 && kind <= format::kSectionKinds && !begins_with(file, at, "TWFRAME1");
  return section || begins_with(file, at, "TWSESSN1") || begins_with(file, at, "TWINDEX1");
}

inline void seal_frame(FileBytes& file, const format::FileIdentity& id, std::uint64_t at) {
  const auto kind = load_le<std::uint32_t>(ByteView(file).subspan(at + 8));
  const auto pieces = load_le<std::uint64_t>(ByteView(file).subspan(at + 32));
  const std::uint64_t directory_at = at + format::kDirectoryOffset;
  if (kind == 2 && pieces < 1000 && directory_at + pieces * format::kDirectoryEntryBytes <= file.size()) {
    const ByteView directory = ByteView(file).subspan(directory_at, pieces * format::kDirectoryEntryBytes);
    store_le(ByteSpan(file).subspan(at + 56), format::bound_crc(id, directory_at, directory));
  }
  seal(file, id, at, format::kFrameBytes);
  if (kind != 1) return;
  for (const std::uint64_t slot : format::kFillSlotOffset) seal(file, id, at + slot, format::kFillSlotBytes);
}

inline void seal_all(FileBytes& file) {
  if (file.size() < format::kPageBytes) return;
  store_le(ByteSpan(file).subspan(508), crc32c(ByteView(file).first(508)));
  const format::FileIdentity id = identity_of(file);
  for (const std::uint64_t slot : format::kSlotOffset)
    if (begins_with(file, slot, "TWSTATE1")) seal(file, id, slot, format::kSlotBytes);
  for (std::uint64_t at = format::kPageBytes; at + format::kPageBytes <= file.size(); at += format::kPageBytes)
    if (is_page(file, at)) seal(file, id, at, format::kPageBytes);
  for (std::uint64_t at = format::kPageBytes; at + 512 <= file.size(); at += 512)
    if (begins_with(file, at, "TWFRAME1")) seal_frame(file, id, at);
}

}  // namespace thalweg::test
