// The segments written and read by thread-collective calls.
#include <fmt/format.h>
#include <omp.h>
#include <omp_file.h>

#include <utility>

#include "omp_file/parts.hpp"
#include "omp_file/segments.hpp"
#include "support/clock.hpp"

namespace bench {

namespace {

using Path = std::filesystem::path;

// One call of omp_file for call number `c` of this thread.
using Call = std::function<int(const Segments&, int fd, int thread, int c)>;

double with_omp_file(const Path& folder, const Segments& load, bool writes, const Call& call) {
  int fd = -1;
  const int flags = load.flags(writes);
  const double begin = now();
  double after_open = 0;
#pragma omp parallel num_threads(load.arrays.threads())
  {
    const int t = omp_get_thread_num();
    must_io(omp_file_open_all(&fd, shared_file(folder).c_str(), flags, 0666), "omp_file_open_all");
#pragma omp single
    after_open = now();
    for (int c = 0; c < load.calls(); ++c) must_io(call(load, fd, t, c), "an omp_file call");
    if (writes && load.store != Store::cache) must_io(omp_file_sync_all(fd), "omp_file_sync_all");
  }
  const double before_close = now();
#pragma omp parallel num_threads(load.arrays.threads())
  must_io(omp_file_close_all(fd), "omp_file_close_all");
  return writes ? now() - begin : before_close - after_open;
}

Way omp_way(const std::string& name, Call write, Call read) {
  return {name,
          [write = std::move(write)](const Path& folder, const Segments& load) {
            return with_omp_file(folder, load, true, write);
          },
          [read = std::move(read)](const Path& folder, const Segments& load) {
            return with_omp_file(folder, load, false, read);
          }};
}

// The other form: the segments of all threads, one thread after the other, each in a common call.
int common_write(const Segments& load, int fd, int c) {
  for (int t = 0; t < load.arrays.threads(); ++t)
    if (omp_file_write_com_all(load.memory(t, c), static_cast<long>(load.segment), fd, 0) != 0) return -1;
  return 0;
}

int common_read(const Segments& load, int fd, int c) {
  for (int t = 0; t < load.arrays.threads(); ++t)
    if (omp_file_read_com_all(load.memory(t, c), static_cast<long>(load.segment), fd, 0) != 0) return -1;
  return 0;
}

}  // namespace

std::vector<Way> omp_ways() {
  std::vector<Way> all;
  all.push_back(omp_way(
      "write_all",
      [](const Segments& load, int fd, int t, int c) {
        return omp_file_write_all(load.memory(t, c), static_cast<long>(load.segment), fd, 0);
      },
      [](const Segments& load, int fd, int t, int c) {
        return omp_file_read_all(load.memory(t, c), static_cast<long>(load.segment), fd, 0);
      }));
  all.push_back(omp_way(
      "write_at_all",
      [](const Segments& load, int fd, int t, int c) {
        return omp_file_write_at_all(load.memory(t, c), static_cast<long>(load.segment), load.place(t, c), fd, 0);
      },
      [](const Segments& load, int fd, int t, int c) {
        return omp_file_read_at_all(load.memory(t, c), static_cast<long>(load.segment), load.place(t, c), fd, 0);
      }));
  all.push_back(omp_way(
      "write_list_all",
      [](const Segments& load, int fd, int t, int c) {
        const iovec list = load.piece(t, c);
        return omp_file_write_list_all(&list, 1, fd, 0);
      },
      [](const Segments& load, int fd, int t, int c) {
        const iovec list = load.piece(t, c);
        return omp_file_read_list_all(&list, 1, fd, 0);
      }));
  all.push_back(omp_way(
      "write_com_all", [](const Segments& load, int fd, int, int c) { return common_write(load, fd, c); },
      [](const Segments& load, int fd, int, int c) { return common_read(load, fd, c); }));
  return all;
}

}  // namespace bench
