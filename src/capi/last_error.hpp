// The calling thread's last failure, read by tw_last_error().
#pragma once

#include <cstdint>

#include "base/status.hpp"
#include "base/visibility.hpp"

namespace thalweg {

// Remembers a failure for this thread and returns its code; OK changes nothing and returns 0.
TW_SHARED std::int32_t set_last_error(const Status& status) noexcept;

}  // namespace thalweg
