// (5) The I/O of the NAS benchmark BT: the solution array u(5, nx, ny, nz) of doubles is written after every five steps of
// the solver (bt_solver.hpp). In memory it has margins, so that only rows of 5 * nx doubles are contiguous; in the file it
// has none. Threads divide the array by y, so in the file their rows alternate plane by plane. Classes S, W, A, B, C are
// cubes of 12, 24, 64, 102, 162 cells (Wong, Van der Wijngaart: NAS Parallel Benchmarks I/O Version 2.4, NAS-03-002).
//
// One computation serves all ways of writing: each of its dumps is written by every way in turn, in another order each
// time, and every byte is compared with the field afterwards.
#include <fcntl.h>
#include <fmt/format.h>
#include <omp.h>
#include <omp_file.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <memory>
#include <set>

#include "omp_file/bt_solver.hpp"
#include "omp_file/files.hpp"
#include "omp_file/parts.hpp"
#include "support/clock.hpp"

namespace bench {

namespace {

constexpr int kStepsPerDump = 5;

off_t place(const BtField& field, std::size_t y, std::size_t z, int dump) {
  return static_cast<off_t>(field.row_bytes() * (y + field.n() * z) + field.bytes() * static_cast<std::size_t>(dump));
}

struct Rows {
  std::size_t first, end;
};
Rows rows_of(const BtField& field, std::size_t thread, std::size_t threads) {
  return {field.n() * thread / threads, field.n() * (thread + 1) / threads};
}
Rows my_rows(const BtField& field) {
  return rows_of(field, static_cast<std::size_t>(omp_get_thread_num()),
                 static_cast<std::size_t>(omp_get_num_threads()));
}

// Ends the program unless the row at `offset` of the file equals the one in memory.
void check_row(int fd, const double* row, std::size_t bytes, off_t offset) {
  std::vector<char> stored(bytes);
  must(::pread(fd, stored.data(), bytes, offset), "pread");
  if (std::memcmp(stored.data(), row, bytes) != 0) give_up(fmt::format("BT-IO: wrong bytes at {}", offset));
}

// One way of writing; `write` is called by every thread of the team.
class Variant {
 public:
  virtual ~Variant() = default;
  virtual void open(const std::filesystem::path& folder, int threads) = 0;
  virtual void write(BtField& field, int dump) = 0;
  virtual void check(const BtField& field, int dump) = 0;
  virtual void sync() = 0;  // by one thread
  virtual void close() = 0;
};

// Verifies a dump in one file without margins.
class OneFile : public Variant {
 public:
  void open(const std::filesystem::path& folder, int) override { open_one(folder / "u"); }
  void check(const BtField& field, int dump) override {
    const int fd = static_cast<int>(must(::open(path_.c_str(), O_RDONLY | O_CLOEXEC), "open"));
    for (std::size_t z = 0; z < field.n(); ++z)
      for (std::size_t y = 0; y < field.n(); ++y)
        check_row(fd, field.row(y, z), field.row_bytes(), place(field, y, z, dump));
    ::close(fd);
  }
  void sync() override { must(::fsync(fd_), "fsync"); }
  void close() override { ::close(fd_); }

 protected:
  virtual void open_one(const std::filesystem::path& path) {
    path_ = path;
    fd_ = open_new(path);
  }
  std::filesystem::path path_;
  int fd_ = -1;
};

class Critical final : public OneFile {
 public:
  void write(BtField& field, int dump) override {
    const Rows mine = my_rows(field);
    for (std::size_t z = 0; z < field.n(); ++z) {
      for (std::size_t y = mine.first; y < mine.end; ++y) {
#pragma omp critical(bench_bt)
        must(::pwrite(fd_, field.row(y, z), field.row_bytes(), place(field, y, z, dump)), "pwrite");
      }
    }
#pragma omp barrier
  }
};

// Consecutive rows in one file per thread, which other programs cannot use directly.
class Separate final : public Variant {
 public:
  void open(const std::filesystem::path& folder, int threads) override {
    for (int t = 0; t < threads; ++t) fds_.push_back(open_new(folder / fmt::format("u.{}", t)));
  }
  void write(BtField& field, int) override {
    const Rows mine = my_rows(field);
    const int fd = fds_[static_cast<std::size_t>(omp_get_thread_num())];
    std::vector<iovec> rows;
    for (std::size_t z = 0; z < field.n(); ++z) {
      for (std::size_t y = mine.first; y < mine.end; ++y) {
        rows.push_back({field.row(y, z), field.row_bytes()});
        if (rows.size() == IOV_MAX) flush(fd, rows);
      }
    }
    flush(fd, rows);
#pragma omp barrier
  }
  void check(const BtField& field, int dump) override {
    for (std::size_t t = 0; t < fds_.size(); ++t) {
      const Rows its = rows_of(field, t, fds_.size());
      std::size_t i = (its.end - its.first) * field.n() * static_cast<std::size_t>(dump);
      for (std::size_t z = 0; z < field.n(); ++z)
        for (std::size_t y = its.first; y < its.end; ++y, ++i)
          check_row(fds_[t], field.row(y, z), field.row_bytes(), static_cast<off_t>(i * field.row_bytes()));
    }
  }
  void sync() override {
    for (const int fd : fds_) must(::fsync(fd), "fsync");
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

class Gather final : public OneFile {
 public:
  explicit Gather(std::size_t bytes) : buffer_(bytes) {}
  void write(BtField& field, int dump) override {
    const Rows mine = my_rows(field);
    for (std::size_t z = 0; z < field.n(); ++z)
      for (std::size_t y = mine.first; y < mine.end; ++y)
        std::memcpy(buffer_.data() + place(field, y, z, 0), field.row(y, z), field.row_bytes());
#pragma omp barrier
#pragma omp single
    must(::pwrite(fd_, buffer_.data(), buffer_.size(), place(field, 0, 0, dump)), "pwrite");
  }

 private:
  std::vector<char> buffer_;
};

class OmpFile final : public OneFile {
 public:
  void write(BtField& field, int dump) override {
    const Rows mine = my_rows(field);
    std::vector<iovec> list;
    std::vector<off_t> offsets;
    list.reserve((mine.end - mine.first) * field.n());
    offsets.reserve(list.capacity());
    for (std::size_t z = 0; z < field.n(); ++z) {
      for (std::size_t y = mine.first; y < mine.end; ++y) {
        list.push_back({field.row(y, z), field.row_bytes()});
        offsets.push_back(place(field, y, z, dump));
      }
    }
    must_io(omp_file_write_list_at_all(list.data(), offsets.data(), static_cast<int>(list.size()), fd_, 0),
            "omp_file_write_list_at_all");
  }
  void sync() override { must_io(omp_file_sync_all(fd_), "omp_file_sync_all"); }
  void close() override { close_omp(fd_); }

 private:
  void open_one(const std::filesystem::path& path) override {
    path_ = path;
    fd_ = open_omp(path);
  }
};

struct Class {
  char name;
  std::size_t cells;
  int dumps;  // the benchmark has 12 of S and 40 of the others
};

// One class: the computation, and all ways of writing its dumps.
class Bt {
 public:
  Bt(Bench& bench, const Class& which)
      : bench_(bench),
        class_(which),
        solver_(which.cells),
        comparison_(fmt::format("BT-IO class {}, a dump", which.name),
                    {static_cast<double>(solver_.field().bytes()), "byte"}, {"write", "sync"}) {}

  void run() {
    std::set<int> teams = {1, 2, 4};
    teams.insert(bench_.threads.begin(), bench_.threads.end());
    add<Critical>("critical", 2);
    add<Separate>("separate files", 2);
    add<Gather>("gather", 2, solver_.field().bytes());
    for (const int threads : teams) add<OmpFile>("omp_file", threads);
    const double error = solver_.error();
    for (Way& way : ways_) way.other_seconds += seconds_of([&] { way.variant->open(way.folder, way.threads); });
    comparison_.run({class_.dumps, 1e9, false});
    if (!(solver_.error() < error)) give_up("BT-IO: the solver does not converge");
    for (Way& way : ways_) {
      way.other_seconds += seconds_of([&] { way.variant->close(); });
      bench_.scratch.drop_bytes(way.folder);
    }
    bench_.report.add(comparison_, bench_.scratch.kind());
    tell();
  }

 private:
  struct Way {
    std::string name;
    int threads;
    std::unique_ptr<Variant> variant;
    std::filesystem::path folder;
    double other_seconds = 0;  // open and close
  };

  template <class Kind, class... Arguments>
  void add(const std::string& name, int threads, Arguments... arguments) {
    const std::size_t number = ways_.size();
    ways_.push_back({fmt::format("{}, {} thread{}", name, threads, threads == 1 ? "" : "s"), threads,
                     std::make_unique<Kind>(arguments...), bench_.scratch.fresh(), 0});
    comparison_.add(ways_.back().name, [this, number](int dump) { return write(ways_[number], dump); });
  }

  std::vector<double> write(Way& way, int dump) {
    if (dump > computed_) {
      solving_ += seconds_of([&] {
        for (int step = 0; step < kStepsPerDump; ++step) solver_.step();
      });
      computed_ = dump;
    }
    bench_.scratch.settle();
    bench_.scratch.claim_memory(static_cast<double>(solver_.field().bytes()));
    BtField& field = solver_.field();
#pragma omp parallel num_threads(way.threads)
    {  // the threads of this team are there before the time begins
    }
    const double seconds = seconds_of([&] {
#pragma omp parallel num_threads(way.threads)
      way.variant->write(field, dump);
    });
    const double synced = seconds_of([&] { way.variant->sync(); });
    way.variant->check(field, dump);
    return {seconds, synced};
  }

  void tell() const {
    for (const Way& way : ways_) {
      double io = way.other_seconds;
      for (const auto& phase : comparison_.phases())
        for (const double seconds : comparison_.samples(way.name, phase)) io += seconds;
      bench_.report.add_fact(bench_.on(fmt::format("BT-IO {}: {}", class_.name, way.name)),
                             {{"io_seconds", io},
                              {"open_close_seconds", way.other_seconds},
                              {"solver_seconds", solving_},
                              {"dumps", class_.dumps},
                              {"bytes", comparison_.amount().count * class_.dumps},
                              {"threads", way.threads}},
                             fmt::format("BT-IO {}: {}: {} dumps take {} with open, syncs and close; computing them {}",
                                         class_.name, way.name, class_.dumps, time_text(io), time_text(solving_)));
    }
    const auto time_ratio = [&](const std::string& peer) {  // seconds of omp_file per second of the peer
      const Spread speed = comparison_.speed("omp_file, 2 threads", peer + ", 2 threads", "write");
      return Spread{1 / speed.median, 1 / speed.high, 1 / speed.low};
    };
    bench_.report.add_target(
        {bench_.on(fmt::format("BT-IO {}: time to critical", class_.name)), time_ratio("critical"), 0.5, false, "x"});
    bench_.report.add_target({bench_.on(fmt::format("BT-IO {}: time to separate files", class_.name)),
                              time_ratio("separate files"), 1.0, false, "x"});
  }

  Bench& bench_;
  const Class class_;
  BtSolver solver_;
  Comparison comparison_;
  std::vector<Way> ways_;
  int computed_ = -1;
  double solving_ = 0;
};

}  // namespace

void bench_bt_io(Bench& bench) {
  std::vector<Class> classes = {{'S', 12, 12}, {'W', 24, 40}, {'A', 64, 10}, {'B', 102, 5}, {'C', 162, 3}};
  if (bench.effort == Effort::quick) classes = {{'S', 12, 12}, {'W', 24, 20}, {'A', 64, 4}};
  if (bench.effort == Effort::tiny) classes = {{'S', 12, 2}};
  for (const Class& each : classes) Bt(bench, each).run();
}

}  // namespace bench
