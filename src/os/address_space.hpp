// The address space of a process: how much it may still map, and in pages of which size.
#pragma once

#include <cstddef>

#include "base/visibility.hpp"

namespace thalweg {

// Whether the kernel would map `bytes` more now: RLIMIT_AS and strict memory accounting may forbid it. The heap may
// have free memory even then.
TW_SHARED bool can_map(std::size_t bytes) noexcept;

// Memory in large pages takes fewer page faults, and fewer entries in the lists of direct transfers.
inline constexpr std::size_t kLargePage = 2 << 20;
// Asks for large pages in place of small ones; the kernel may have none.
TW_SHARED void use_large_pages(void* memory, std::size_t bytes) noexcept;

}  // namespace thalweg
