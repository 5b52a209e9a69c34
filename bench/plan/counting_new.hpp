// Memory taken by operator new, which the program of this benchmark replaces. For one thread.
#ifndef BENCH_PLAN_COUNTING_NEW_HPP
#define BENCH_PLAN_COUNTING_NEW_HPP

#include <cstddef>

namespace bench {

// Forgets the high-water mark: from now on it is what is in use.
void begin_counting();
// The most that was in use since, beyond what was in use then.
std::size_t most_bytes();

}  // namespace bench

#endif
