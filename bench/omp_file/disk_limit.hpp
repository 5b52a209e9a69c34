// The speed of the disk: the limit of writes that must reach it.
#ifndef BENCH_OMP_FILE_DISK_LIMIT_HPP
#define BENCH_OMP_FILE_DISK_LIMIT_HPP

#include <string>

#include "support/scratch.hpp"

namespace bench {

struct DiskLimit {
  std::string name;  // name of the measuring program
  double bytes_per_second;
};

// `threads` threads write `bytes` in total with direct I/O, 1 MiB per call, each its part of one preallocated file, and
// sync it. Uses fio where installed, otherwise a simple loop. The fastest of three.
DiskLimit measure_disk(Scratch& scratch, int threads, std::size_t bytes);

}  // namespace bench

#endif
