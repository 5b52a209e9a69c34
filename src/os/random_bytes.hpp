// Random bytes of the kernel, for identities that no other file has.
#pragma once

#include <cstddef>
#include <span>

namespace thalweg {

void fill_with_random(std::span<std::byte> bytes);

}  // namespace thalweg
