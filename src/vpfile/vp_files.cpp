#include "vpfile/vp_files.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "base/shell_word.hpp"
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

Status remove_sums(StoredFile& meta_file) {
  TW_ASSIGN_OR_RETURN(const std::uint64_t bytes, meta_file.size());
  return bytes > format::kMetaBytes ? meta_file.truncate(format::kMetaBytes) : Status{};
}

Status check_data_bytes(const std::string& path, const format::VpMeta& meta, std::uint64_t bytes) {
  const format::VpGeometry& geometry = meta.geometry;
  const bool plain = geometry.cb_bytes == 0 && !geometry.has_ib();
  const std::uint64_t all = std::max(plain ? geometry.nb_bytes * geometry.n : 0, meta.closed ? meta.data_bytes : 0);
  if (bytes >= all) return {};
  return Status::error(Code::corrupt_file, "'" + path + "' was cut off: it has " + std::to_string(bytes) +
                                               " bytes of " + std::to_string(all) + "; " + repair_command(path) +
                                               " brings back what is left");
}

Status check_side_bytes(StoredFile& side, const format::SideEnd& closed) {
  TW_ASSIGN_OR_RETURN(const std::uint64_t bytes, side.size());
  if (bytes >= closed.bytes) return {};
  return Status::error(Code::corrupt_file, "'" + side.path() + "' was cut off: it has " + std::to_string(bytes) +
                                               " bytes of " + std::to_string(closed.bytes) +
                                               "; `thalweg repair` makes it anew");
}

}  // namespace thalweg
