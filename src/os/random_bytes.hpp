// Random bytes from the kernel, for identities that must be unique.
#pragma once

#include <cstddef>
#include <span>

namespace thalweg {

void fill_with_random(std::span<std::byte> bytes);

}  // namespace thalweg
