#include "vpfile/vpfile_storage.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/shell_word.hpp"
#include "formats/known_file.hpp"
#include "os/random_bytes.hpp"
#include "storage/hold_file.hpp"
#include "store/places.hpp"
#include "vpfile/format/directory.hpp"
#include "vpfile/format/superblock.hpp"

namespace thalweg {

namespace {

constexpr std::uint64_t kBlankAtOnce = std::uint64_t{1} << 16;

}  // namespace

static Status remove_if_there(Backend& backend, const std::string& name) {
  Status status = backend.remove(name);
  return status.code() == Code::not_found ? Status{} : status;
}

// Whether a file is empty or all zeros, as a side file is whose bytes never reached the storage.
static Result<bool> is_blank(StoredFile& file) {
  bool blank = true;
  const auto look = [&](std::uint64_t, ByteView bytes) -> Result<bool> { return blank = format::all_zero(bytes); };
  TW_RETURN_IF_ERROR(each_place(file, 0, kBlankAtOnce, kBlankAtOnce, look));
  return blank;
}

// Whether a side file may be written in the place of `name`: true also where there is no file. `may_be_torn`: the death
// of the machine may have left zeros in place of its header.
static Result<bool> may_be_side(Backend& backend, const std::string& name, bool may_be_torn = false) {
  TW_ASSIGN_OR_RETURN(const bool exists, backend.exists(name));
  if (!exists) return true;
  TW_ASSIGN_OR_RETURN(const auto file, backend.open(name, OpenMode::read));
  TW_ASSIGN_OR_RETURN(const format::KnownFormat found, format_of(*file));
  if (found != format::KnownFormat::none) return found == format::KnownFormat::vp_side;
  if (!may_be_torn) return is_blank(*file);
  std::array<std::byte, format::kDirectoryHeader> header{};
  TW_RETURN_IF_ERROR(file->read(0, header).status());
  return format::all_zero(header);
}

Status check_side(Backend& backend, const std::string& name, bool may_be_torn) {
  TW_ASSIGN_OR_RETURN(const bool ours, may_be_side(backend, name, may_be_torn));
  return ours ? Status{} : refuse_to_overwrite(name, "is no side file of a vpfile");
}

Result<std::vector<std::byte>> read_meta_slots(Backend& backend, const std::string& path, bool of_nodes) {
  TW_ASSIGN_OR_RETURN(const auto file, backend.open(vp_meta_path(path), OpenMode::read));
  if (of_nodes) TW_RETURN_IF_ERROR(file->forget_cached());
  std::vector<std::byte> bytes(format::kMetaBytes);
  TW_ASSIGN_OR_RETURN(const std::size_t got, file->read(0, bytes));
  bytes.resize(got);
  return bytes;
}

Status check_meta(StoredFile& meta_file, const format::VpMeta& meta) {
  if (!meta_file.locks_reach_all()) TW_RETURN_IF_ERROR(meta_file.forget_cached());
  std::array<std::byte, format::kMetaBytes> bytes{};
  TW_RETURN_IF_ERROR(meta_file.read(0, bytes).status());
  auto now = format::parse_meta(bytes);
  if (now.has_value() && now->id == meta.id && now->sequence == meta.sequence && now->closed == meta.closed) return {};
  return taken_by_another(meta_file);
}

Status check_unclosed_vpfile(Backend& backend, const StoredFile& held, bool force, const GoOn& go_on) {
  if (held.locks_reach_all()) return {};
  auto slots = read_meta_slots(backend, held.path());
  auto meta = slots.has_value() ? format::parse_meta(*slots) : Result<format::VpMeta>(slots.error());
  if (!meta.has_value() || meta->closed) return {};
  return check_unwritten(backend, held, {held.path(), vp_meta_path(held.path())}, force, go_on);
}

// Whether NAME.meta says that there is this side file: then it belongs to the vpfile, whatever its first bytes.
static bool has_side(Backend& backend, const std::string& path, format::DirectoryFile which) {
  const auto slots = read_meta_slots(backend, path);
  if (!slots.has_value()) return false;
  const auto meta = format::parse_meta(slots.value());
  if (!meta.has_value() || !meta.value().geometry.has_ib()) return false;
  return which != format::DirectoryFile::batches || meta.value().batches > 0 || !meta.value().closed;
}

Status check_not_foreign(Backend& backend, const std::string& path) {
  TW_ASSIGN_OR_RETURN(const format::KnownFormat found, format_of(backend, path));
  TW_RETURN_IF_ERROR(check_may_overwrite(path, found, format::KnownFormat::vpfile));
  if (found != format::KnownFormat::vpfile) TW_RETURN_IF_ERROR(check_side(backend, vp_meta_path(path)));
  for (const format::DirectoryFile which : format::kSideFiles)
    if (!has_side(backend, path, which)) TW_RETURN_IF_ERROR(check_side(backend, vp_side_path(path, which)));
  return {};
}

Status remove_directory(Backend& backend, const std::string& path, bool foreign_too) {
  for (const format::DirectoryFile which : format::kSideFiles) {
    const std::string name = vp_side_path(path, which);
    TW_ASSIGN_OR_RETURN(const bool goes, foreign_too ? Result<bool>(true) : may_be_side(backend, name));
    if (goes) TW_RETURN_IF_ERROR(remove_if_there(backend, name));
  }
  return {};
}

Status remove_all_beside(Backend& backend, const std::string& path) {
  for (const std::string& name : format::vp_side_paths(path)) TW_RETURN_IF_ERROR(remove_if_there(backend, name));
  return {};
}

Result<bool> has_meta_bytes(Backend& backend, const std::string& path) {
  const auto slots = read_meta_slots(backend, path);
  if (slots.has_value()) return !slots.value().empty();
  return slots.error().code() == Code::not_found ? Result<bool>(false) : slots.error();
}

// A superblock is written up to its last byte, the end of its table.
Result<bool> holds_superblocks(StoredFile& data) {
  std::array<std::byte, format::kFrameBytes> bytes;
  TW_ASSIGN_OR_RETURN(const std::size_t got, data.read(0, bytes));
  if (format::begins_as_superblock(std::span(bytes).first(got))) return true;
  TW_ASSIGN_OR_RETURN(const std::uint64_t size, data.size());
  for (std::uint64_t super = format::kLeastSuperblock; super <= format::kMostSuperblock; super *= 2) {
    if (size == 0 || size % super != 0) return false;
    TW_ASSIGN_OR_RETURN(const std::size_t there, data.read(size - super, bytes));
    const auto header = format::parse_superblock_header(std::span(bytes).first(there), size - super);
    if (header.has_value() && header.value().geometry.superblock_bytes == super) return true;
  }
  return false;
}

format::FileIdentity new_vp_identity() {
  format::FileIdentity id;
  fill_with_random(std::as_writable_bytes(std::span(id.uuid)));
  return id;
}

Status cut_sums(StoredFile& meta_file, std::uint64_t end) {
  TW_ASSIGN_OR_RETURN(const std::uint64_t bytes, meta_file.size());
  return bytes > end ? meta_file.truncate(end) : Status{};
}

Status check_data_bytes(const std::string& path, const format::VpMeta& meta, std::uint64_t bytes) {
  const format::VpGeometry& geometry = meta.geometry;
  const bool is_array = geometry.cb_bytes == 0 && !geometry.has_ib();
  const std::uint64_t lattice = meta.closed || is_array ? geometry.lattice_end() : 0;
  const std::uint64_t all = std::max(lattice, meta.closed ? meta.data_bytes : 0);
  if (bytes >= all) return {};
  return Status::error(Code::corrupt_file, "'{}' was cut off: it has {} bytes of {}; {} brings back what is left", path,
                       bytes, all, repair_command(path));
}

}  // namespace thalweg
