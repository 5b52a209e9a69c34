// What the disk itself takes: the limit of writes that end on it.
#ifndef BENCH_OMP_FILE_DISK_LIMIT_HPP
#define BENCH_OMP_FILE_DISK_LIMIT_HPP

#include <string>

#include "support/scratch.hpp"

namespace bench {

struct DiskLimit {
  std::string name;  // of what measured it
  double bytes_per_second;
};

// `threads` at once write `bytes` in all past the page cache, 1 MiB a call, each its part of one preallocated file, and
// sync it. By fio where it is found, else by a plain loop. The fastest of three.
DiskLimit measure_disk(Scratch& scratch, int threads, std::size_t bytes);

}  // namespace bench

#endif
