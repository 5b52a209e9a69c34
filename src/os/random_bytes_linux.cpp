#include <unistd.h>

#include <algorithm>
#include <random>

#include "os/random_bytes.hpp"

namespace thalweg {

// std::random_device is avoided: it identifies the processor first, which takes 50 us in a virtual machine.
void fill_with_random(std::span<std::byte> bytes) {
  constexpr std::size_t kMost = 256;  // limit of one call
  while (!bytes.empty()) {
    const auto part = bytes.first(std::min(bytes.size(), kMost));
    if (::getentropy(part.data(), part.size()) != 0) break;
    bytes = bytes.subspan(part.size());
  }
  if (bytes.empty()) return;
  std::random_device random;
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() & 0xFF);
}

}  // namespace thalweg
