#include "vpfile/format/directory.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "store/format/field_list.hpp"

namespace thalweg::format {

namespace {

std::string_view magic_of(DirectoryFile which) {
  if (which == DirectoryFile::batches) return "TWVPBATC";
  return which == DirectoryFile::first ? "TWVPFRST" : "TWVPDIRE";
}

std::string name_of(DirectoryFile which) { return vp_side_path("NAME", which); }

}  // namespace

bool begins_as_directory(ByteView file) {
  return std::ranges::any_of(kSideFiles, [&](DirectoryFile which) { return begins_with(file, magic_of(which)); });
}

std::array<std::byte, kDirectoryHeader> encode_directory_header(DirectoryFile which, const FileIdentity& id,
                                                                const VpGeometry& geometry) {
  std::array<std::byte, kDirectoryHeader> bytes{};
  FieldWriter out(bytes);
  out.put_magic(magic_of(which));
  move_fields(out, id, geometry.n, geometry.pointers, geometry.block_bytes);
  seal(bytes, side_identity(id, which), 0);
  return bytes;
}

Status check_directory_header(ByteView bytes, DirectoryFile which, const FileIdentity& id, const VpGeometry& geometry) {
  const std::string name = name_of(which);
  if (bytes.size() < kDirectoryHeader) return corrupt("{} is shorter than its header", name);
  if (std::ranges::equal(bytes.first(kDirectoryHeader), encode_directory_header(which, id, geometry))) return {};
  return corrupt("{}: its header is damaged, or that of another vpfile", name);
}

Status check_entry(ByteView entry, DirectoryFile which, const FileIdentity& id, std::uint64_t number) {
  if (all_zero(entry)) return {};
  const auto pointers = static_cast<std::uint32_t>((entry.size() - 32) / 8);
  const auto where = [&] { return fmt::format("{}, entry {}", name_of(which), number); };
  if (!is_sealed(entry, side_identity(id, which), entry_offset(which, pointers, number)))
    return corrupt("{}: its checksum does not match", where());
  const auto used = load_le<std::uint32_t>(entry.subspan(entry.size() - 8));
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
