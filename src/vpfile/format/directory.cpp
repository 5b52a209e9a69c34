#include "vpfile/format/directory.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "base/crc32c.hpp"
#include "base/fields.hpp"

namespace thalweg::format {

namespace {

constexpr std::size_t kDirectoryCrcOffset = kDirectoryHeader - 4;

std::string_view magic_of(DirectoryFile which) { return which == DirectoryFile::first ? "TWVPFRST" : "TWVPDIRE"; }

const char* name_of(DirectoryFile which) { return which == DirectoryFile::first ? "NAME.first" : "NAME.dir"; }

// Entries are whole words.
bool is_zero(ByteView bytes) {
  std::uint64_t any = 0;
  for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) any |= load_le<std::uint64_t>(bytes.subspan(at));
  return any == 0;
}

}  // namespace

bool begins_as_directory(ByteView file) {
  return begins_with(file, magic_of(DirectoryFile::first)) || begins_with(file, magic_of(DirectoryFile::overflow));
}

std::array<std::byte, kDirectoryHeader> encode_directory_header(DirectoryFile which, const VpIdentity& id,
                                                                const VpGeometry& geometry) {
  std::array<std::byte, kDirectoryHeader> bytes{};
  FieldWriter out(bytes);
  out.put_magic(magic_of(which)).put_bytes(id).put(geometry.n).put(geometry.pointers).put(geometry.block_bytes);
  store_le<std::uint32_t>(ByteSpan(bytes).subspan(kDirectoryCrcOffset),
                          crc32c(ByteView(bytes).first(kDirectoryCrcOffset)));
  return bytes;
}

Status check_directory_header(ByteView bytes, DirectoryFile which, const VpIdentity& id, const VpGeometry& geometry) {
  const std::string name = name_of(which);
  if (bytes.size() < kDirectoryHeader) return corrupt("{} is shorter than its header", name);
  if (load_le<std::uint32_t>(bytes.subspan(kDirectoryCrcOffset)) != crc32c(bytes.first(kDirectoryCrcOffset)))
    return corrupt("{}: the checksum of its header does not match", name);
  if (!std::ranges::equal(bytes.first(kDirectoryHeader), encode_directory_header(which, id, geometry)))
    return corrupt("{} belongs to another vpfile", name);
  return {};
}

EntrySealer::EntrySealer(DirectoryFile which, const VpIdentity& id) : which_(which) {
  std::array<std::byte, 20> bytes;
  FieldWriter(bytes).put_bytes(id).put(static_cast<std::uint32_t>(which));
  before_ = crc32c(bytes);
}

std::uint32_t EntrySealer::crc_of(ByteView covered, std::uint64_t number) const {
  std::array<std::byte, 8> place;
  store_le<std::uint64_t>(place, number);
  return crc32c(covered, crc32c(place, before_));
}

void EntrySealer::seal(ByteSpan entry, std::uint64_t number) const {
  const std::size_t covered = entry.size() - 4;
  store_le<std::uint32_t>(entry.subspan(covered), crc_of(entry.first(covered), number));
}

Status EntrySealer::check(ByteView entry, std::uint64_t number) const {
  if (is_zero(entry)) return {};
  const std::size_t covered = entry.size() - 4;
  const std::size_t pointers = (entry.size() - 32) / 8;
  const auto where = [&] { return fmt::format("{}, entry {}", name_of(which_), number); };
  if (load_le<std::uint32_t>(entry.subspan(covered)) != crc_of(entry.first(covered), number))
    return corrupt("{}: its checksum does not match", where());
  const auto used = load_le<std::uint32_t>(entry.subspan(covered - 4));
  if (used > pointers) return corrupt("{}: it has more pointers in use than there are", where());
  for (std::uint32_t i = 0; i < used; ++i) {
    const auto pointer = load_le<std::uint64_t>(entry.subspan(16 + 8 * std::size_t{i}));
    const BlockRun run = decode_pointer(pointer);
    const bool hole = (pointer & kHolePointer) != 0;
    if (run.blocks == 0 || (hole ? run.blocks > kMostHole : run.address == 0))
      return corrupt("{}: pointer {} is none", where(), i);
  }
  return {};
}

}  // namespace thalweg::format
