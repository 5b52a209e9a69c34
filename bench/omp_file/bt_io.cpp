// (5) The I/O of the NAS benchmark BT: the solution array u(5, nx, ny, nz) of doubles is written every few steps. In
// memory it has two ghost cells on each side, so that only rows of 5 * nx doubles are contiguous; in the file it has
// none. Threads divide the array by y, so in the file their rows alternate plane by plane. Classes S, W, A, B are cubes
// of 12, 24, 64, 102 cells (Wong, Van der Wijngaart: NAS Parallel Benchmarks I/O Version 2.4, NAS-03-002).
#include <fcntl.h>
#include <fmt/format.h>
#include <omp.h>
#include <omp_file.h>
#include <sys/uio.h>
#include <unistd.h>

#include <climits>
#include <cstring>
#include <memory>

#include "omp_file/files.hpp"
#include "omp_file/parts.hpp"
#include "support/clock.hpp"

namespace bench {

namespace {

constexpr std::size_t kMargin = 2;
constexpr std::size_t kComponents = 5;

struct Field {
  std::size_t n;  // cells in each direction
  std::size_t wide;
  std::vector<double> u;

  explicit Field(std::size_t cells) : n(cells), wide(cells + 2 * kMargin), u(kComponents * wide * wide * wide) {}
  std::size_t row_bytes() const { return kComponents * n * sizeof(double); }
  std::size_t bytes() const { return row_bytes() * n * n; }
  double* row(std::size_t y, std::size_t z) {
    return u.data() + (((z + kMargin) * wide + y + kMargin) * wide + kMargin) * kComponents;
  }
  off_t place(std::size_t y, std::size_t z, int step) const {
    return static_cast<off_t>(row_bytes() * (y + n * z) + bytes() * static_cast<std::size_t>(step));
  }
  double value(std::size_t y, std::size_t z, std::size_t i, int step) const {
    return static_cast<double>((z * n + y) * kComponents * n + i) + 0.5 * step;
  }
  void advance(int step) {
#pragma omp parallel for
    for (std::size_t z = 0; z < n; ++z)
      for (std::size_t y = 0; y < n; ++y)
        for (std::size_t i = 0; i < kComponents * n; ++i) row(y, z)[i] = value(y, z, i, step);
  }
};

struct Rows {
  std::size_t first, end;
};
Rows my_rows(const Field& field) {
  const auto t = static_cast<std::size_t>(omp_get_thread_num());
  const auto threads = static_cast<std::size_t>(omp_get_num_threads());
  return {field.n * t / threads, field.n * (t + 1) / threads};
}

// Writes one step; called by every thread of the team.
class Variant {
 public:
  virtual ~Variant() = default;
  virtual void open(const std::filesystem::path& folder, int threads) = 0;
  virtual void write(Field& field, int step) = 0;
  virtual void close() = 0;
};

class Critical final : public Variant {
 public:
  void open(const std::filesystem::path& folder, int) override { fd_ = open_new(folder / "u"); }
  void write(Field& field, int step) override {
    const Rows mine = my_rows(field);
    for (std::size_t z = 0; z < field.n; ++z) {
      for (std::size_t y = mine.first; y < mine.end; ++y) {
#pragma omp critical(bench_bt)
        must(::pwrite(fd_, field.row(y, z), field.row_bytes(), field.place(y, z, step)), "pwrite");
      }
    }
#pragma omp barrier
  }
  void close() override { ::close(fd_); }

 private:
  int fd_ = -1;
};

// Consecutive rows in one file per thread, which other programs cannot use directly.
class Separate final : public Variant {
 public:
  void open(const std::filesystem::path& folder, int threads) override {
    for (int t = 0; t < threads; ++t) fds_.push_back(open_new(folder / fmt::format("u.{}", t)));
  }
  void write(Field& field, int) override {
    const Rows mine = my_rows(field);
    const int fd = fds_[static_cast<std::size_t>(omp_get_thread_num())];
    std::vector<iovec> rows;
    for (std::size_t z = 0; z < field.n; ++z) {
      for (std::size_t y = mine.first; y < mine.end; ++y) {
        rows.push_back({field.row(y, z), field.row_bytes()});
        if (rows.size() == IOV_MAX) flush(fd, rows);
      }
    }
    flush(fd, rows);
#pragma omp barrier
  }
  void close() override {
    for (const int fd : fds_) ::close(fd);
    fds_.clear();
  }

 private:
  static void flush(int fd, std::vector<iovec>& rows) {
    if (!rows.empty()) must(::writev(fd, rows.data(), static_cast<int>(rows.size())), "writev");
    rows.clear();
  }
  std::vector<int> fds_;
};

class Gather final : public Variant {
 public:
  void open(const std::filesystem::path& folder, int) override { fd_ = open_new(folder / "u"); }
  void write(Field& field, int step) override {
#pragma omp single
    buffer_.resize(field.bytes());
    const Rows mine = my_rows(field);
    for (std::size_t z = 0; z < field.n; ++z)
      for (std::size_t y = mine.first; y < mine.end; ++y)
        std::memcpy(buffer_.data() + field.place(y, z, 0), field.row(y, z), field.row_bytes());
#pragma omp barrier
#pragma omp single
    must(::pwrite(fd_, buffer_.data(), buffer_.size(), field.place(0, 0, step)), "pwrite");
  }
  void close() override { ::close(fd_); }

 private:
  int fd_ = -1;
  std::vector<char> buffer_;
};

class OmpFile final : public Variant {
 public:
  void open(const std::filesystem::path& folder, int) override {
    must_io(omp_file_open_all(&fd_, (folder / "u").c_str(), O_RDWR | O_CREAT | O_TRUNC, 0666), "omp_file_open_all");
  }
  void write(Field& field, int step) override {
    const Rows mine = my_rows(field);
    std::vector<iovec> list;
    std::vector<off_t> offsets;
    list.reserve((mine.end - mine.first) * field.n);
    offsets.reserve(list.capacity());
    for (std::size_t z = 0; z < field.n; ++z) {
      for (std::size_t y = mine.first; y < mine.end; ++y) {
        list.push_back({field.row(y, z), field.row_bytes()});
        offsets.push_back(field.place(y, z, step));
      }
    }
    must_io(omp_file_write_list_at_all(list.data(), offsets.data(), static_cast<int>(list.size()), fd_, 0),
            "omp_file_write_list_at_all");
  }
  void close() override { must_io(omp_file_close_all(fd_), "omp_file_close_all"); }

 private:
  int fd_ = -1;
};

// Verifies every double of the shared file.
void check_file(const std::filesystem::path& path, const Field& field, int steps) {
  const int fd = static_cast<int>(must(::open(path.c_str(), O_RDONLY | O_CLOEXEC), "open"));
  std::vector<double> row(kComponents * field.n);
  for (int step = 0; step < steps; ++step) {
    for (std::size_t z = 0; z < field.n; ++z) {
      for (std::size_t y = 0; y < field.n; ++y) {
        must(::pread(fd, row.data(), field.row_bytes(), field.place(y, z, step)), "pread");
        for (std::size_t i = 0; i < row.size(); ++i)
          if (row[i] != field.value(y, z, i, step)) give_up("BT-IO: wrong value in " + path.string());
      }
    }
  }
  ::close(fd);
}

double run_once(Bench& bench, Variant& variant, Field& field, int threads, int steps, bool check) {
  bench.scratch.settle();
  bench.scratch.claim_memory(static_cast<double>(field.bytes()) * steps);
  const auto folder = bench.scratch.fresh();
  double seconds = 0;
  variant.open(folder, threads);
  for (int step = 0; step < steps; ++step) {
    field.advance(step);
    seconds += seconds_of([&] {
#pragma omp parallel num_threads(threads)
      variant.write(field, step);
    });
  }
  seconds += seconds_of([&] { variant.close(); });
  if (check && std::filesystem::exists(folder / "u")) check_file(folder / "u", field, steps);
  bench.scratch.drop_bytes(folder);
  return seconds;
}

void compare_class(Bench& bench, char name, std::size_t cells, int threads) {
  Field field(cells);
  const double wanted = pick(bench.effort, 1e5, 1.2e8, threads == 2 ? 2.4e8 : 1.2e8);  // bytes
  const int steps = std::clamp(static_cast<int>(wanted / static_cast<double>(field.bytes())), 1, 40);
  Comparison comparison(fmt::format("BT-IO class {}, {} threads, {} steps", name, threads, steps),
                        {static_cast<double>(field.bytes()) * steps, "byte"}, {"write"});
  const auto add = [&](const std::string& variant, std::shared_ptr<Variant> way) {
    comparison.add(variant, [&bench, &field, threads, steps, way = std::move(way)](int repetition) {
      return std::vector<double>{run_once(bench, *way, field, threads, steps, repetition <= 0)};
    });
  };
  add("critical", std::make_shared<Critical>());
  add("separate files", std::make_shared<Separate>());
  add("gather", std::make_shared<Gather>());
  add("omp_file", std::make_shared<OmpFile>());
  comparison.run(bench.plan(threads));
  bench.report.add(comparison, bench.scratch.kind());
  if (threads != 2) return;
  const auto time_ratio = [&](const char* peer) {  // seconds of omp_file per second of the peer
    const Spread speed = comparison.speed("omp_file", peer, "write");
    return Spread{1 / speed.median, 1 / speed.high, 1 / speed.low};
  };
  bench.report.add_target(
      {bench.on(fmt::format("BT-IO {}: time to critical", name)), time_ratio("critical"), 0.5, false, "x"});
  bench.report.add_target(
      {bench.on(fmt::format("BT-IO {}: time to separate files", name)), time_ratio("separate files"), 1.0, false, "x"});
}

}  // namespace

void bench_bt_io(Bench& bench) {
  struct Class {
    char name;
    std::size_t cells;
  };
  std::vector<Class> classes = {{'S', 12}, {'W', 24}, {'A', 64}, {'B', 102}};
  if (bench.effort == Effort::tiny) classes.resize(1);
  for (const int threads : bench.threads)
    for (const Class& each : classes) compare_class(bench, each.name, each.cells, threads);
}

}  // namespace bench
