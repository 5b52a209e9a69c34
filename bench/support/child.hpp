// Runs this program once more in a process of its own, or another one, and asks the kernel what a process used. For
// measures that belong to a whole process: peak memory, bytes read.
#ifndef BENCH_SUPPORT_CHILD_HPP
#define BENCH_SUPPORT_CHILD_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bench {

// What a program prints; nothing when it fails or is not there. words[0]: its path, or its name on the PATH.
std::optional<std::string> run_program(const std::vector<std::string>& words);
// The same of this program with these arguments.
std::optional<std::string> run_self(const std::vector<std::string>& arguments);

// From here on allocations fail that would make this process larger than `bytes`, or than half of the memory that is
// free now: a measurement must not drive the machine into its swap.
void limit_memory(std::int64_t bytes);

// Largest resident memory of this process since reset_peak_memory(), and the memory now. Bytes.
void reset_peak_memory();
std::int64_t peak_memory();
std::int64_t current_memory();

// Bytes and calls of read-like system calls of this process so far.
struct ReadCount {
  std::int64_t bytes = 0;
  std::int64_t calls = 0;
};
ReadCount reads_so_far();
// What `later` has more than `earlier`, without what reads_so_far() reads itself.
ReadCount difference(const ReadCount& earlier, const ReadCount& later);

}  // namespace bench

#endif
