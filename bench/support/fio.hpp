// fio, where it is installed: the speed of direct writes by another program.
#ifndef BENCH_SUPPORT_FIO_HPP
#define BENCH_SUPPORT_FIO_HPP

#include <cstddef>
#include <filesystem>
#include <optional>

namespace bench {

struct FioLoad {
  int threads;
  std::size_t each;   // bytes of a thread, in its part of one preallocated file
  std::size_t block;  // bytes of a transfer
  int depth;          // transfers in flight; 1: pwrite(2), else io_uring
};

// Bytes per second; none without fio. The file is synced at the end.
std::optional<double> ask_fio(const std::filesystem::path& file, const FioLoad& load);

}  // namespace bench

#endif
