// Waits that spare the core: futex, yield, short sleeps; and the number of cores available for spinning.
//
// Invariant: no wait exceeds its limit (plus the kernel's timer slack).
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "base/visibility.hpp"

namespace thalweg {

// Sleeps while `word` holds `expected`, for at most `limit`. May return early without a reason.
TW_SHARED void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                          std::chrono::microseconds limit);
// Wakes all threads that sleep on `word`.
TW_SHARED void futex_wake_all(const std::atomic<std::uint32_t>& word);

// Informs the core that this is a spin loop.
inline void cpu_relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#else
  std::atomic_signal_fence(std::memory_order_seq_cst);
#endif
}

TW_SHARED void yield_core();
TW_SHARED void sleep_for(std::chrono::microseconds time);

// Cores that this thread may run on (its affinity mask), at least 1.
TW_SHARED int usable_cores();

}  // namespace thalweg
