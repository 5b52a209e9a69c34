// Where the ranks write: a folder of rank 0 that all ranks see, on a disk, in memory, or on delayed storage.
#ifndef BENCH_COLLECTIVE_STORAGE_HPP
#define BENCH_COLLECTIVE_STORAGE_HPP

#include <filesystem>
#include <memory>
#include <string>

#include "collective/ranks.hpp"
#include "support/scratch.hpp"

namespace bench {

// Turns the delay on only while an access is timed: preparing and verifying files is not delayed. No effect without the
// preloaded emulator.
void storage_is_slow(bool on);
bool has_delays();
// A library that is preloaded, in the build tree or installed.
std::filesystem::path find_module(const std::string& name);
// Restarts the program with the emulator preloaded, and without io_uring, which bypasses it. Returns only in the
// restarted program. Call before MPI_Init.
void preload_delays(char** argv);

class Storage {
 public:
  // Collective. delayed: below `parent` in memory, 1 GB/s in total and 100 us per operation.
  Storage(const Ranks& ranks, const std::string& parent, bool delayed, bool settles);

  const std::string& name() const { return name_; }  // "ext4", "tmpfs", "delayed"
  bool in_memory() const { return in_memory_; }      // also when delayed
  bool delayed() const { return delayed_; }

  // A path in a new folder, on an idle device. Collective.
  std::string fresh_path(double bytes);
  // Writes the file to the device and drops it from the page cache; no effect in memory. Collective.
  void forget(const std::string& path);
  // Removes the file after a barrier. Collective.
  void drop(const std::string& path);

 private:
  const Ranks& ranks_;
  std::unique_ptr<Scratch> scratch_;  // on rank 0
  std::string name_;
  bool in_memory_, delayed_;
};

}  // namespace bench

#endif
