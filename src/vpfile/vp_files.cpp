#include "vpfile/vp_files.hpp"

#include <array>
#include <string>

#include "format/vpfile_directory.hpp"
#include "os/random_bytes.hpp"

namespace thalweg {

static Status remove_if_there(Backend& backend, const std::string& name) {
  Status status = backend.remove(name);
  return status.code() == Code::not_found ? Status{} : status;
}

// A file of another kind that has this name is not touched.
Status remove_directory(Backend& backend, const std::string& path) {
  for (const std::string& name : {vp_first_path(path), vp_overflow_path(path)}) {
    TW_ASSIGN_OR_RETURN(const bool exists, backend.exists(name));
    if (!exists) continue;
    TW_ASSIGN_OR_RETURN(const auto file, backend.open(name, OpenMode::read));
    std::array<std::byte, 8> begin{};
    TW_ASSIGN_OR_RETURN(const std::size_t got, file->read(0, begin));
    const bool never_reached_storage = got == begin.size() && begin == decltype(begin){};
    if (never_reached_storage || format::begins_as_directory(std::span(begin).first(got)))
      TW_RETURN_IF_ERROR(backend.remove(name));
  }
  return {};
}

Status remove_all_beside(Backend& backend, const std::string& path) {
  for (const std::string& name : {vp_meta_path(path), vp_first_path(path), vp_overflow_path(path)})
    TW_RETURN_IF_ERROR(remove_if_there(backend, name));
  return {};
}

format::VpIdentity new_vp_identity() {
  format::VpIdentity id;
  fill_with_random(id);
  return id;
}

Status check_data_bytes(const std::string& path, const format::VpGeometry& geometry, std::uint64_t bytes) {
  const std::uint64_t all = geometry.nb_bytes * geometry.n;
  if (geometry.cb_bytes != 0 || geometry.has_ib() || bytes >= all) return {};
  return Status::error(Code::corrupt_file, "'" + path + "' was cut off: it has " + std::to_string(bytes) +
                                               " bytes, its streams need " + std::to_string(all));
}

Status check_first_bytes(StoredFile& first, const format::VpMeta& meta) {
  TW_ASSIGN_OR_RETURN(const std::uint64_t bytes, first.size());
  if (bytes >= meta.first_bytes) return {};
  return Status::error(Code::corrupt_file, "'" + first.path() + "' was cut off: it has " + std::to_string(bytes) +
                                               " bytes of " + std::to_string(meta.first_bytes) +
                                               "; `thalweg repair` makes it anew");
}

}  // namespace thalweg
