#include "formats/known_file.hpp"

#include <fmt/core.h>

#include <array>
#include <cerrno>

#include "vpfile/format/meta.hpp"

namespace thalweg {

using format::KnownFormat;

namespace {

// A path that does not exist, is a folder or may not be read by this user has no format.
bool is_closed_to_us(const Status& status) {
  return status.code() == Code::not_found || status.code() == Code::no_permission || status.os_errno() == EISDIR;
}

Result<KnownFormat> format_at(Backend& backend, const std::string& path) {
  TW_ASSIGN_OR_RETURN(const bool exists, backend.exists(path));
  if (!exists) return KnownFormat::none;
  const auto file = backend.open(path, OpenMode::read);
  if (!file.has_value()) return is_closed_to_us(file.error()) ? Result<KnownFormat>(KnownFormat::none) : file.error();
  auto found = format_of(*file.value());
  return !found.has_value() && is_closed_to_us(found.error()) ? KnownFormat::none : found;
}

Result<bool> has_vp_side(Backend& backend, const std::string& path) {
  TW_ASSIGN_OR_RETURN(const KnownFormat meta, format_at(backend, format::vp_meta_path(path)));
  if (meta == KnownFormat::vp_side) return true;
  TW_ASSIGN_OR_RETURN(const KnownFormat first,
                      format_at(backend, format::vp_side_path(path, format::DirectoryFile::first)));
  return first == KnownFormat::vp_side;
}

}  // namespace

Result<KnownFormat> format_of(StoredFile& file) {
  std::array<std::byte, format::kBytesToKnow> bytes;
  TW_ASSIGN_OR_RETURN(const std::size_t got, file.read(0, bytes));
  const KnownFormat found = format::recognise(std::span(bytes).first(got));
  if (found != KnownFormat::none || got < bytes.size()) return found;
  TW_ASSIGN_OR_RETURN(const std::uint64_t size, file.size());
  for (std::uint64_t at = format::kBytesToKnow; at < size; at *= 2) {
    const auto begin = std::span(bytes).first(8);
    TW_ASSIGN_OR_RETURN(const std::size_t there, file.read(at, begin));
    if (format::begins_as_hdf5(begin.first(there))) return KnownFormat::hdf5;
  }
  return found;
}

Result<KnownFormat> format_of(Backend& backend, const std::string& path) {
  TW_ASSIGN_OR_RETURN(const KnownFormat found, format_at(backend, path));
  TW_ASSIGN_OR_RETURN(const bool is_vpfile, has_vp_side(backend, path));
  return is_vpfile ? KnownFormat::vpfile : found;
}

Status check_looks_like(const std::string& path, KnownFormat found, KnownFormat wanted) {
  if (found == wanted || found == KnownFormat::none) return {};
  return Status::error(Code::corrupt_file, "'{}' looks like {}, not {}", path, format::name_of(found),
                       format::name_of(wanted));
}

Status refuse_to_overwrite(const std::string& path, const std::string& what) {
  return Status::error(
      Code::unsafe,
      "'{}' {} and is left as it is: remove it, choose another name, or give the hint overwrite_foreign=on", path,
      what);
}

Status check_may_overwrite(const std::string& path, KnownFormat found, KnownFormat wanted) {
  if (found == wanted || found == KnownFormat::none) return {};
  return refuse_to_overwrite(path,
                             fmt::format("looks like {}, not {},", format::name_of(found), format::name_of(wanted)));
}

Status check_may_overwrite(Backend& backend, const std::string& path, KnownFormat wanted) {
  TW_ASSIGN_OR_RETURN(const KnownFormat found, format_of(backend, path));
  return check_may_overwrite(path, found, wanted);
}

void remove_vp_sides(Backend& backend, const std::string& path) {
  for (const std::string& name : format::vp_side_paths(path))
    if (const auto found = format_at(backend, name); found.has_value() && found.value() == KnownFormat::vp_side)
      (void)backend.remove(name).ok();
}

Status check_not_own(Backend& backend, const std::string& path) {
  TW_ASSIGN_OR_RETURN(const KnownFormat found, format_of(backend, path));
  if (!format::is_own(found)) return {};
  return Status::error(Code::unsafe,
                       "'{}' looks like {} and is left as it is: open it as such, remove it, or choose another name",
                       path, format::name_of(found));
}

}  // namespace thalweg
