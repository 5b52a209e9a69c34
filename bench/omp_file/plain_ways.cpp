// Common practice without thread-collective I/O, by system calls.
#include <fcntl.h>
#include <fmt/format.h>
#include <omp.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include <algorithm>

#include "omp_file/parts.hpp"
#include "omp_file/segments.hpp"
#include "support/clock.hpp"

namespace bench {

namespace {

using Path = std::filesystem::path;

int open_posix(const Path& path, int flags) {
  return static_cast<int>(must(::open(path.c_str(), flags | O_CLOEXEC, 0666), "open " + path.string()));
}

void write_whole(int fd, const char* data, std::size_t bytes, off_t offset) {
  while (bytes > 0) {
    const auto done = must(::pwrite(fd, data, bytes, offset), "pwrite");
    data += done;
    offset += done;
    bytes -= static_cast<std::size_t>(done);
  }
}

void read_whole(int fd, char* data, std::size_t bytes, off_t offset) {
  while (bytes > 0) {
    const auto done = must(::pread(fd, data, bytes, offset), "pread");
    if (done == 0) give_up("a file is too short");
    data += done;
    offset += done;
    bytes -= static_cast<std::size_t>(done);
  }
}

Path own(const Path& folder, int thread) { return folder / fmt::format("thread.{}", thread); }

void sync_if_asked(int fd, Store store) {
  if (store != Store::cache) must(::fdatasync(fd), "fdatasync");
}

// Common practice: one file, threads take turns.
double write_ordered(const Path& folder, const Segments& load) {
  return seconds_of([&] {
    const int fd = open_posix(shared_file(folder), load.flags(true));
    const int n = load.arrays.threads();
#pragma omp parallel for ordered schedule(static, 1) num_threads(n)
    for (int i = 0; i < n * load.calls(); ++i) {
#pragma omp ordered
      write_whole(fd, load.memory(i % n, i / n), load.segment, load.place(i % n, i / n));
    }
    sync_if_asked(fd, load.store);
    ::close(fd);
  });
}

double write_critical(const Path& folder, const Segments& load) {
  return seconds_of([&] {
    const int fd = open_posix(shared_file(folder), load.flags(true));
#pragma omp parallel num_threads(load.arrays.threads())
    for (int c = 0; c < load.calls(); ++c) {
      const int t = omp_get_thread_num();
#pragma omp critical(bench_io)
      write_whole(fd, load.memory(t, c), load.segment, load.place(t, c));
    }
    sync_if_asked(fd, load.store);
    ::close(fd);
  });
}

double read_critical(const Path& folder, const Segments& load) {
  const int fd = open_posix(shared_file(folder), load.flags(false));
  const double seconds = seconds_of([&] {
#pragma omp parallel num_threads(load.arrays.threads())
    for (int c = 0; c < load.calls(); ++c) {
      const int t = omp_get_thread_num();
#pragma omp critical(bench_io)
      read_whole(fd, load.memory(t, c), load.segment, load.place(t, c));
    }
  });
  ::close(fd);
  return seconds;
}

double write_files(const Path& folder, const Segments& load) {
  return seconds_of([&] {
#pragma omp parallel num_threads(load.arrays.threads())
    {
      const int t = omp_get_thread_num();
      const int fd = open_posix(own(folder, t), load.flags(true));
      for (int c = 0; c < load.calls(); ++c) {
        const std::size_t at = static_cast<std::size_t>(c) * load.segment;
        write_whole(fd, load.arrays.of(t) + at, load.segment, static_cast<off_t>(at));
      }
      sync_if_asked(fd, load.store);
      ::close(fd);
    }
  });
}

double read_files(const Path& folder, const Segments& load) {
  double seconds = 0;
#pragma omp parallel num_threads(load.arrays.threads())
  {
    const int t = omp_get_thread_num();
    const int fd = open_posix(own(folder, t), load.flags(false));
#pragma omp barrier
    const double start = now();
    for (int c = 0; c < load.calls(); ++c) {
      const std::size_t at = static_cast<std::size_t>(c) * load.segment;
      read_whole(fd, load.arrays.of(t) + at, load.segment, static_cast<off_t>(at));
    }
#pragma omp barrier
    if (t == 0) seconds = now() - start;
    ::close(fd);
  }
  return seconds;
}

// Merges the files per thread, as needed before another program can read the result.
double merge_files(const Path& folder, const Segments& load) {
  return seconds_of([&] {
    const int to = open_posix(shared_file(folder), O_RDWR | O_CREAT | O_TRUNC);
    std::vector<int> from;
    for (int t = 0; t < load.arrays.threads(); ++t) from.push_back(open_posix(own(folder, t), O_RDONLY));
    for (int c = 0; c < load.calls(); ++c) {
      for (const int fd : from) {
        for (std::size_t left = load.segment; left > 0;)
          left -= static_cast<std::size_t>(must(::sendfile(to, fd, nullptr, left), "sendfile"));
      }
    }
    sync_if_asked(to, load.store);
    for (const int fd : from) ::close(fd);
    ::close(to);
  });
}

// Consecutive segments of all threads that belong to one call.
std::vector<iovec> gathered(const Segments& load, int c) {
  std::vector<iovec> list;
  for (int t = 0; t < load.arrays.threads(); ++t) list.push_back(load.piece(t, c));
  return list;
}

// Like write_whole and read_whole; after a short call, moves the rest piece by piece.
void move_gathered(int fd, const std::vector<iovec>& list, off_t offset, bool writes) {
  const auto n = static_cast<int>(list.size());
  auto done = static_cast<std::size_t>(
      must(writes ? ::pwritev(fd, list.data(), n, offset) : ::preadv(fd, list.data(), n, offset), "pwritev or preadv"));
  for (const iovec& each : list) {
    const std::size_t skipped = std::min(done, each.iov_len), left = each.iov_len - skipped;
    char* rest = static_cast<char*>(each.iov_base) + skipped;
    const off_t at = offset + static_cast<off_t>(skipped);
    writes ? write_whole(fd, rest, left, at) : read_whole(fd, rest, left, at);
    done -= skipped;
    offset += static_cast<off_t>(each.iov_len);
  }
}

double write_one_stream(const Path& folder, const Segments& load) {
  return seconds_of([&] {
    const int fd = open_posix(shared_file(folder), load.flags(true));
    for (int c = 0; c < load.calls(); ++c) move_gathered(fd, gathered(load, c), load.place(0, c), true);
    sync_if_asked(fd, load.store);
    ::close(fd);
  });
}

double read_one_stream(const Path& folder, const Segments& load) {
  const int fd = open_posix(shared_file(folder), load.flags(false));
  const double seconds = seconds_of([&] {
    for (int c = 0; c < load.calls(); ++c) move_gathered(fd, gathered(load, c), load.place(0, c), false);
  });
  ::close(fd);
  return seconds;
}

}  // namespace

std::vector<Way> plain_ways(Store store) {
  std::vector<Way> all;
  all.push_back({"ordered", write_ordered, read_critical});
  all.push_back({"critical", write_critical, read_critical, false});
  all.push_back({"file per thread", write_files, read_files});
  if (store != Store::direct)
    all.push_back(
        {"file per thread, merged",
         [](const Path& folder, const Segments& load) { return write_files(folder, load) + merge_files(folder, load); },
         read_critical, false});
  all.push_back({"one stream", write_one_stream, read_one_stream});
  return all;
}

}  // namespace bench
