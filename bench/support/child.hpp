// Runs this program or another one as a child process, and reads the kernel's counters of a process, for values that
// exist per process: peak memory, bytes read.
#ifndef BENCH_SUPPORT_CHILD_HPP
#define BENCH_SUPPORT_CHILD_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bench {

// Output of a program; no value when it fails or is missing. words[0]: its path, or its name on the PATH.
std::optional<std::string> run_program(const std::vector<std::string>& words);
// Output of this program with these arguments.
std::optional<std::string> run_self(const std::vector<std::string>& arguments);

// Makes allocations fail that would exceed `bytes`, or half of the currently free memory: a measurement must not cause
// swapping.
void limit_memory(std::int64_t bytes);

// Peak resident memory of this process since reset_peak_memory(), and current memory, in bytes.
void reset_peak_memory();
std::int64_t peak_memory();
std::int64_t current_memory();

// Bytes and calls of reading system calls of this process so far.
struct ReadCount {
  std::int64_t bytes = 0;
  std::int64_t calls = 0;
};
ReadCount reads_so_far();
// `later` minus `earlier`, without the reads of reads_so_far() itself.
ReadCount difference(const ReadCount& earlier, const ReadCount& later);

}  // namespace bench

#endif
