#include "vpfile/vp_files.hpp"

#include <random>
#include <string>

namespace thalweg {

format::VpIdentity new_vp_identity() {
  format::VpIdentity id;
  std::random_device random;
  for (std::byte& byte : id) byte = static_cast<std::byte>(random() & 0xFF);
  return id;
}

Status check_first_bytes(StoredFile& first, const format::VpMeta& meta) {
  TW_ASSIGN_OR_RETURN(const std::uint64_t bytes, first.size());
  if (bytes >= meta.first_bytes) return {};
  return Status::error(Code::corrupt_file, "'" + first.path() + "' was cut off: it has " + std::to_string(bytes) +
                                               " bytes of " + std::to_string(meta.first_bytes) +
                                               "; `thalweg repair` makes it anew");
}

}  // namespace thalweg
