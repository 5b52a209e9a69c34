#include "omp_file/segments.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <omp.h>
#include <omp_file.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

#include "omp_file/parts.hpp"
#include "support/clock.hpp"

namespace bench {

namespace {

using Path = std::filesystem::path;
constexpr std::size_t kPage = 4096;

std::uint64_t word_at(int thread, std::size_t i) {
  return (static_cast<std::uint64_t>(thread) << 48 ^ i) * 0x9E3779B97F4A7C15U;
}

int flags_of(Store store, bool writes) {
  return (writes ? O_RDWR | O_CREAT | O_TRUNC : O_RDONLY) | (store == Store::direct ? O_DIRECT : 0);
}

int open_posix(const Path& path, int flags) {
  return static_cast<int>(must(::open(path.c_str(), flags | O_CLOEXEC, 0666), "open " + path.string()));
}

off_t place(const Segments& load, int thread, int call) {
  return static_cast<off_t>((static_cast<std::size_t>(call) * static_cast<std::size_t>(load.arrays.threads()) +
                             static_cast<std::size_t>(thread)) *
                            load.segment);
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

Path shared(const Path& folder) { return folder / "shared"; }
Path own(const Path& folder, int thread) { return folder / fmt::format("thread.{}", thread); }

void sync_if_asked(int fd, Store store) {
  if (store != Store::cache) must(::fdatasync(fd), "fdatasync");
}

// Today's way: one file, threads take turns.
double write_ordered(const Path& folder, const Segments& load) {
  return seconds_of([&] {
    const int fd = open_posix(shared(folder), flags_of(load.store, true));
    const int n = load.arrays.threads();
#pragma omp parallel for ordered schedule(static, 1) num_threads(n)
    for (int i = 0; i < n * load.calls(); ++i) {
#pragma omp ordered
      write_whole(fd, load.arrays.of(i % n) + static_cast<std::size_t>(i / n) * load.segment, load.segment,
                  place(load, i % n, i / n));
    }
    sync_if_asked(fd, load.store);
    ::close(fd);
  });
}

double write_critical(const Path& folder, const Segments& load) {
  return seconds_of([&] {
    const int fd = open_posix(shared(folder), flags_of(load.store, true));
#pragma omp parallel num_threads(load.arrays.threads())
    for (int c = 0; c < load.calls(); ++c) {
      const int t = omp_get_thread_num();
#pragma omp critical(bench_io)
      write_whole(fd, load.arrays.of(t) + static_cast<std::size_t>(c) * load.segment, load.segment, place(load, t, c));
    }
    sync_if_asked(fd, load.store);
    ::close(fd);
  });
}

double read_critical(const Path& folder, const Segments& load) {
  const int fd = open_posix(shared(folder), flags_of(load.store, false));
  const double seconds = seconds_of([&] {
#pragma omp parallel num_threads(load.arrays.threads())
    for (int c = 0; c < load.calls(); ++c) {
      const int t = omp_get_thread_num();
#pragma omp critical(bench_io)
      read_whole(fd, load.arrays.of(t) + static_cast<std::size_t>(c) * load.segment, load.segment, place(load, t, c));
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
      const int fd = open_posix(own(folder, t), flags_of(load.store, true));
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
    const int fd = open_posix(own(folder, t), flags_of(load.store, false));
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

// What a program with a file per thread has to do before another one can read its result.
double merge_files(const Path& folder, const Segments& load) {
  return seconds_of([&] {
    const int to = open_posix(shared(folder), O_RDWR | O_CREAT | O_TRUNC);
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

// One call of omp_file for call number `c` of this thread.
using Call = std::function<int(const Segments&, int fd, int thread, int c)>;

double with_omp_file(const Path& folder, const Segments& load, bool writes, const Call& call) {
  int fd = -1;
  const int flags = flags_of(load.store, writes);
  const double begin = now();
  double after_open = 0;
#pragma omp parallel num_threads(load.arrays.threads())
  {
    const int t = omp_get_thread_num();
    must_io(omp_file_open_all(&fd, shared(folder).c_str(), flags, 0666), "omp_file_open_all");
#pragma omp single
    after_open = now();
    for (int c = 0; c < load.calls(); ++c) must_io(call(load, fd, t, c), "an omp_file call");
    if (writes && load.store != Store::cache) must_io(omp_file_sync_all(fd), "omp_file_sync_all");
#pragma omp barrier
#pragma omp single
    after_open = writes ? begin : after_open;
  }
  const double end = now();
#pragma omp parallel num_threads(load.arrays.threads())
  must_io(omp_file_close_all(fd), "omp_file_close_all");
  return end - after_open;
}

char* memory(const Segments& load, int thread, int c) {
  return load.arrays.of(thread) + static_cast<std::size_t>(c) * load.segment;
}

iovec piece(const Segments& load, int thread, int c) { return {memory(load, thread, c), load.segment}; }

Way omp_way(const std::string& name, Call write, Call read) {
  return {name,
          [write = std::move(write)](const Path& folder, const Segments& load) {
            return with_omp_file(folder, load, true, write);
          },
          [read = std::move(read)](const Path& folder, const Segments& load) {
            return with_omp_file(folder, load, false, read);
          }};
}

// The other way of calling: the segments of all threads, one thread after the other, each of them a common call.
int common_write(const Segments& load, int fd, int c) {
  for (int t = 0; t < load.arrays.threads(); ++t)
    if (omp_file_write_com_all(memory(load, t, c), static_cast<long>(load.segment), fd, 0) != 0) return -1;
  return 0;
}

int common_read(const Segments& load, int fd, int c) {
  for (int t = 0; t < load.arrays.threads(); ++t)
    if (omp_file_read_com_all(memory(load, t, c), static_cast<long>(load.segment), fd, 0) != 0) return -1;
  return 0;
}

}  // namespace

const char* store_name(Store store) {
  return store == Store::cache ? "page cache" : store == Store::sync ? "sync at end" : "direct";
}

Arrays::Arrays(int threads, std::size_t bytes_each)
    : bytes_each_(bytes_each), arrays_(static_cast<std::size_t>(threads)) {
  const std::size_t pages = (bytes_each + kPage - 1) / kPage * kPage;
  for (auto& array : arrays_) {
    array.reset(static_cast<char*>(std::aligned_alloc(kPage, pages)));
    if (array == nullptr) give_up("no memory for the arrays");
  }
  fill();
}

void Arrays::fill() {
#pragma omp parallel for schedule(static, 1) num_threads(threads())
  for (int t = 0; t < threads(); ++t) {
    for (std::size_t i = 0; i < bytes_each_ / 8; ++i) {
      const std::uint64_t word = word_at(t, i);
      std::memcpy(of(t) + i * 8, &word, 8);
    }
  }
}

void Arrays::clear() {
#pragma omp parallel for schedule(static, 1) num_threads(threads())
  for (int t = 0; t < threads(); ++t) std::memset(of(t), 0, bytes_each_);
}

void Arrays::check(const char* after) const {
  for (int t = 0; t < threads(); ++t) {
    for (std::size_t i = 0; i < bytes_each_ / 8; ++i) {
      std::uint64_t word = 0;
      std::memcpy(&word, of(t) + i * 8, 8);
      if (word != word_at(t, i)) give_up(fmt::format("wrong bytes after {}: thread {}, byte {}", after, t, i * 8));
    }
  }
}

std::vector<Way> ways(Store store) {
  std::vector<Way> all;
  all.push_back({"ordered", write_ordered, read_critical});
  all.push_back({"critical", write_critical, read_critical});
  all.push_back({"file per thread", write_files, read_files});
  if (store != Store::direct)
    all.push_back(
        {"file per thread, merged",
         [](const Path& folder, const Segments& load) { return write_files(folder, load) + merge_files(folder, load); },
         read_critical});
  all.push_back(omp_way(
      "write_all",
      [](const Segments& load, int fd, int t, int c) {
        return omp_file_write_all(memory(load, t, c), static_cast<long>(load.segment), fd, 0);
      },
      [](const Segments& load, int fd, int t, int c) {
        return omp_file_read_all(memory(load, t, c), static_cast<long>(load.segment), fd, 0);
      }));
  all.push_back(omp_way(
      "write_at_all",
      [](const Segments& load, int fd, int t, int c) {
        return omp_file_write_at_all(memory(load, t, c), static_cast<long>(load.segment), place(load, t, c), fd, 0);
      },
      [](const Segments& load, int fd, int t, int c) {
        return omp_file_read_at_all(memory(load, t, c), static_cast<long>(load.segment), place(load, t, c), fd, 0);
      }));
  all.push_back(omp_way(
      "write_list_all",
      [](const Segments& load, int fd, int t, int c) {
        const iovec list = piece(load, t, c);
        return omp_file_write_list_all(&list, 1, fd, 0);
      },
      [](const Segments& load, int fd, int t, int c) {
        const iovec list = piece(load, t, c);
        return omp_file_read_list_all(&list, 1, fd, 0);
      }));
  all.push_back(omp_way(
      "write_com_all", [](const Segments& load, int fd, int, int c) { return common_write(load, fd, c); },
      [](const Segments& load, int fd, int, int c) { return common_read(load, fd, c); }));
  return all;
}

}  // namespace bench
