// New files, opened by system calls or by a team.
#ifndef BENCH_OMP_FILE_FILES_HPP
#define BENCH_OMP_FILE_FILES_HPP

#include <fcntl.h>
#include <omp_file.h>

#include <filesystem>

#include "omp_file/parts.hpp"

namespace bench {

inline int open_new(const std::filesystem::path& path) {
  return static_cast<int>(must(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), "open"));
}

inline int open_omp(const std::filesystem::path& path) {
  int fd = -1;
  must_io(omp_file_open_all(&fd, path.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0666), "omp_file_open_all");
  return fd;
}

inline void close_omp(int fd) { must_io(omp_file_close_all(fd), "omp_file_close_all"); }

}  // namespace bench

#endif
