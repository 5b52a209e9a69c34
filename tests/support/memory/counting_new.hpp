// Counts allocations and bytes in use, and lets allocations fail, in a program of which one source includes
// replaced_new.hpp.
#pragma once

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace thalweg::test {

// Counts allocations between start() and stop(), on the calling thread and on threads that join().
class Allocations {
 public:
  // Counts allocations of at least `least` bytes; the `fail_at`-th of them fails (0: none).
  static void start(std::uint64_t fail_at = 0, std::uint64_t least = 0) {
    count_ = bytes_ = largest_ = 0;
    fail_at_ = fail_at;
    least_ = least;
    here_ = true;
  }
  static void stop() { here_ = false; }
  static void join() { here_ = true; }
  static std::uint64_t count() { return count_; }
  static std::uint64_t bytes() { return bytes_; }
  static std::uint64_t largest() { return largest_; }

  // Bytes in use by all threads, and their maximum since the last restart_peak().
  static std::uint64_t in_use() { return in_use_; }
  static std::uint64_t peak() { return peak_; }
  static void restart_peak() { peak_ = in_use_.load(); }
  static void* taken(void* memory) {
    const std::uint64_t now = in_use_ += ::malloc_usable_size(memory);
    std::uint64_t peak = peak_;
    while (peak < now && !peak_.compare_exchange_weak(peak, now)) {
    }
    return memory;
  }
  static void give_back(void* memory) {
    in_use_ -= ::malloc_usable_size(memory);
    std::free(memory);
  }

  // Whether an allocation may succeed.
  static bool grant(std::size_t bytes) { return !here_ || bytes < least_ || note(bytes); }

  static void* take(std::size_t bytes) {
    if (!grant(bytes)) throw std::bad_alloc();
    void* memory = std::malloc(std::max<std::size_t>(bytes, 1));
    if (memory == nullptr) throw std::bad_alloc();
    return taken(memory);
  }
  static void* take_aligned(std::size_t bytes, std::align_val_t alignment) {
    const auto unit = static_cast<std::size_t>(alignment);
    void* memory =
        grant(bytes) ? std::aligned_alloc(unit, (std::max<std::size_t>(bytes, 1) + unit - 1) / unit * unit) : nullptr;
    return memory == nullptr ? nullptr : taken(memory);
  }

 private:
  static bool note(std::size_t bytes) {
    const std::uint64_t number = ++count_;
    bytes_ += bytes;
    std::uint64_t largest = largest_;
    while (largest < bytes && !largest_.compare_exchange_weak(largest, bytes)) {
    }
    return number != fail_at_;
  }

  static inline thread_local bool here_ = false;
  static inline std::atomic<std::uint64_t> count_{0}, bytes_{0}, largest_{0}, fail_at_{0}, least_{0};
  static inline std::atomic<std::uint64_t> in_use_{0}, peak_{0};
};

}  // namespace thalweg::test
