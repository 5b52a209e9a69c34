// Interface of the preloaded storage emulator (delay.cpp), found by name at run time; absent without the preload.
#ifndef BENCH_COLLECTIVE_DELAY_HPP
#define BENCH_COLLECTIVE_DELAY_HPP

#include <cstdint>

namespace bench {

struct DelayedStorage {
  std::int64_t bytes_per_second;  // shared by all processes
  std::int64_t latency_ns;        // per operation
};

// Delays files opened from now on below `folder`, an absolute path, in this process and in all others that pass this
// folder. Returns 0, or -1 with errno.
using DelayBegin = int (*)(const char* folder, const DelayedStorage* storage);
inline constexpr const char* kDelayBegin = "tw_bench_delay_begin";

// Turns delays of this process on or off; initially off. Operations started before stay delayed.
using DelaySwitch = void (*)(int on);
inline constexpr const char* kDelaySwitch = "tw_bench_delay_switch";

}  // namespace bench

#endif
