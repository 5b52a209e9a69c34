// The interface of the preloaded storage emulator (delay.cpp), found by name at run time: a program that was started
// without it has none.
#ifndef BENCH_COLLECTIVE_DELAY_HPP
#define BENCH_COLLECTIVE_DELAY_HPP

#include <cstdint>

namespace bench {

struct DelayedStorage {
  std::int64_t bytes_per_second;  // of all processes together
  std::int64_t latency_ns;        // of each operation
};

// From now on files that are opened below `folder`, an absolute path, are delayed, by this process and by all others
// that call it with the same folder. 0, or -1 with errno.
using DelayBegin = int (*)(const char* folder, const DelayedStorage* storage);
inline constexpr const char* kDelayBegin = "tw_bench_delay_begin";

// Whether this process is delayed now; at first it is not. What was begun before stays delayed.
using DelaySwitch = void (*)(int on);
inline constexpr const char* kDelaySwitch = "tw_bench_delay_switch";

}  // namespace bench

#endif
