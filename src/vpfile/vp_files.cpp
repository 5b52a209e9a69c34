#include "vpfile/vp_files.hpp"

#include <random>

namespace thalweg {

format::VpIdentity new_vp_identity() {
  format::VpIdentity id;
  std::random_device random;
  for (std::byte& byte : id) byte = static_cast<std::byte>(random() & 0xFF);
  return id;
}

}  // namespace thalweg
