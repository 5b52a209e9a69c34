// Memory allocated by operator new, which this program replaces. One thread only.
#ifndef BENCH_PLAN_COUNTING_NEW_HPP
#define BENCH_PLAN_COUNTING_NEW_HPP

#include <cstddef>

namespace bench {

// Sets the high-water mark to the memory in use.
void begin_counting();
// Growth of the high-water mark since begin_counting().
std::size_t most_bytes();

}  // namespace bench

#endif
