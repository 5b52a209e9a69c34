// How much of its address space a process may still use.
#pragma once

#include <cstddef>

#include "base/visibility.hpp"

namespace thalweg {

// Whether the kernel maps `bytes` more at this moment: RLIMIT_AS and strict accounting of memory may forbid it. The
// heap may have free memory all the same.
TW_SHARED bool can_map(std::size_t bytes) noexcept;

}  // namespace thalweg
