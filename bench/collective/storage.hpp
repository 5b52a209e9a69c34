// Where the ranks write: a folder of rank 0 that all of them see, on a disk, in memory, or on delayed storage.
#ifndef BENCH_COLLECTIVE_STORAGE_HPP
#define BENCH_COLLECTIVE_STORAGE_HPP

#include <memory>
#include <string>

#include "collective/ranks.hpp"
#include "support/scratch.hpp"

namespace bench {

// Delayed storage is so only while something is timed: what prepares and checks files does not wait. Does nothing where
// the emulator was not preloaded.
void storage_is_slow(bool on);
bool has_delays();
// Starts the program anew with the emulator preloaded, and without io_uring, which would pass it by. Returns only when
// that is done already. Call before MPI_Init.
void preload_delays(char** argv);

class Storage {
 public:
  // All ranks together. delayed: below `parent` in memory, 1 GB/s for all and 100 us for each operation.
  Storage(const Ranks& ranks, const std::string& parent, bool delayed, bool settles);

  const std::string& name() const { return name_; }  // "ext4", "tmpfs", "delayed"
  bool in_memory() const { return in_memory_; }      // also when delayed
  bool delayed() const { return delayed_; }

  // A path in a new folder, on an idle device. All ranks together.
  std::string fresh_path(double bytes);
  // All ranks together: the file goes, once all have come.
  void drop(const std::string& path);

 private:
  const Ranks& ranks_;
  std::unique_ptr<Scratch> scratch_;  // of rank 0
  std::string name_;
  bool in_memory_, delayed_;
};

}  // namespace bench

#endif
