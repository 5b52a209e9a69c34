// Tests how much address space a process may still map.
#pragma once

#include <cstddef>

#include "base/visibility.hpp"

namespace thalweg {

// Whether the kernel would map `bytes` more now: RLIMIT_AS and strict memory accounting may forbid it. The heap may
// have free memory even then.
TW_SHARED bool can_map(std::size_t bytes) noexcept;

}  // namespace thalweg
