#include "format/vpfile_directory.hpp"

#include <algorithm>
#include <cassert>
#include <string>

#include "base/crc32c.hpp"
#include "format/fields.hpp"

namespace thalweg::format {

namespace {

constexpr std::uint64_t kHole = std::uint64_t{1} << 63;
constexpr unsigned kRunBits = 12;
constexpr std::size_t kDirectoryCrcOffset = kDirectoryHeader - 4;

std::string_view magic_of(DirectoryFile which) { return which == DirectoryFile::first ? "TWVPFRST" : "TWVPDIRE"; }

const char* name_of(DirectoryFile which) { return which == DirectoryFile::first ? "NAME.first" : "NAME.dir"; }

std::uint32_t entry_crc(ByteView covered, DirectoryFile which, std::uint64_t number, const VpIdentity& id) {
  std::array<std::byte, 28> place;
  FieldWriter(place).put_bytes(id).put(static_cast<std::uint32_t>(which)).put(number);
  return crc32c(covered, crc32c(place));
}

// Entries are whole words.
bool is_zero(ByteView bytes) {
  std::uint64_t any = 0;
  for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) any |= load_le<std::uint64_t>(bytes.subspan(at));
  return any == 0;
}

}  // namespace

bool begins_as_directory(ByteView file) {
  const std::string_view magic = magic_of(DirectoryFile::first);
  return file.size() >= magic.size() && FieldReader(file).get_magic(magic);
}

std::uint64_t encode_pointer(BlockRun run) {
  assert(run.blocks >= 1 && run.blocks <= (run.is_hole() ? kMostHole : kMostRun));
  return run.is_hole() ? kHole | run.blocks : run.address << kRunBits | (run.blocks - 1);
}

BlockRun decode_pointer(std::uint64_t pointer) {
  if (pointer == 0) return {};
  if ((pointer & kHole) != 0) return {0, pointer & ~kHole};
  return {pointer >> kRunBits, (pointer & (kMostRun - 1)) + 1};
}

std::array<std::byte, kDirectoryHeader> encode_directory_header(const DirectoryHeader& header) {
  std::array<std::byte, kDirectoryHeader> bytes{};
  FieldWriter out(bytes);
  out.put_magic(magic_of(header.which)).put_bytes(header.id).put(header.n);
  out.put(header.pointers).put(header.block_bytes);
  store_le<std::uint32_t>(ByteSpan(bytes).subspan(kDirectoryCrcOffset),
                          crc32c(ByteView(bytes).first(kDirectoryCrcOffset)));
  return bytes;
}

Status check_directory_header(ByteView bytes, const DirectoryHeader& expected) {
  const auto right = encode_directory_header(expected);
  const std::string name = name_of(expected.which);
  if (bytes.size() < kDirectoryHeader) return corrupt(name + " is shorter than its header");
  if (load_le<std::uint32_t>(bytes.subspan(kDirectoryCrcOffset)) != crc32c(bytes.first(kDirectoryCrcOffset)))
    return corrupt(name + ": the checksum of its header does not match");
  if (!std::ranges::equal(bytes.first(kDirectoryHeader), right)) return corrupt(name + " belongs to another vpfile");
  return {};
}

void seal_entry(ByteSpan entry, DirectoryFile which, std::uint64_t number, const VpIdentity& id) {
  const std::size_t covered = entry.size() - 4;
  store_le<std::uint32_t>(entry.subspan(covered), entry_crc(entry.first(covered), which, number, id));
}

Status check_entry(ByteView entry, DirectoryFile which, std::uint64_t number, const VpIdentity& id) {
  if (is_zero(entry)) return {};
  const std::size_t covered = entry.size() - 4;
  const std::size_t pointers = (entry.size() - 24) / 8;
  const auto where = [&] { return std::string(name_of(which)) + ", entry " + std::to_string(number); };
  if (load_le<std::uint32_t>(entry.subspan(covered)) != entry_crc(entry.first(covered), which, number, id))
    return corrupt(where() + ": its checksum does not match");
  const auto used = load_le<std::uint32_t>(entry.subspan(covered - 4));
  if (used > pointers) return corrupt(where() + ": it has more pointers in use than there are");
  for (std::uint32_t i = 0; i < used; ++i) {
    const auto pointer = load_le<std::uint64_t>(entry.subspan(16 + 8 * std::size_t{i}));
    const BlockRun run = decode_pointer(pointer);
    const bool hole = (pointer & kHole) != 0;
    if (run.blocks == 0 || (hole ? run.blocks > kMostHole : run.address == 0))
      return corrupt(where() + ": pointer " + std::to_string(i) + " is none");
  }
  return {};
}

}  // namespace thalweg::format
