// (8) A second application: photons that scatter in a slab until they are absorbed or leave it, by Monte Carlo. Every
// scattering leaves a record, so that each thread has another number of bytes, which nobody knows before. The file has
// the records in the order of the photons, so it is the same with any number of threads.
#include <fmt/format.h>
#include <omp.h>
#include <unistd.h>

#include <cmath>
#include <cstring>

#include "omp_file/files.hpp"
#include "omp_file/parts.hpp"
#include "support/clock.hpp"

namespace bench {

namespace {

constexpr double kThickness = 10;  // in mean free paths
constexpr double kAbsorbed = 0.1;  // of the photons, at each scattering
constexpr double kKept = 0.98;     // of the energy

struct Scattering {
  double depth, cosine, energy;
};

// A number of 0 < x <= 1 for each call (splitmix64), the same for the same photon.
class Random {
 public:
  explicit Random(std::uint64_t photon) : state_(photon * 0x9e3779b97f4a7c15U) {}
  double next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return static_cast<double>(((z ^ (z >> 31)) >> 11) + 1) * 0x1p-53;
  }

 private:
  std::uint64_t state_;
};

void trace(std::uint64_t photon, std::vector<Scattering>& records) {
  Random random(photon);
  Scattering now{0, 1, 1};
  for (;;) {
    now.depth -= now.cosine * std::log(random.next());
    if (now.depth < 0 || now.depth > kThickness) return;
    records.push_back(now);
    if (random.next() <= kAbsorbed) return;
    now.cosine = 2 * random.next() - 1;
    now.energy *= kKept;
  }
}

// The records of a batch of photons, traced by the threads that write them: thread t has its share of the photons.
class Batch {
 public:
  Batch(std::uint64_t photons, int threads) : of_thread_(static_cast<std::size_t>(threads)) {
#pragma omp parallel num_threads(threads)
    {
      const auto t = static_cast<std::uint64_t>(omp_get_thread_num()), n = static_cast<std::uint64_t>(threads);
      std::vector<Scattering>& mine = of_thread_[t];
      for (std::uint64_t photon = photons * t / n; photon < photons * (t + 1) / n; ++photon) trace(photon, mine);
    }
  }
  const char* data(std::size_t thread) const { return reinterpret_cast<const char*>(of_thread_[thread].data()); }
  std::size_t bytes(std::size_t thread) const { return of_thread_[thread].size() * sizeof(Scattering); }
  std::size_t bytes_before(std::size_t thread) const {
    std::size_t sum = 0;
    for (std::size_t t = 0; t < thread; ++t) sum += bytes(t);
    return sum;
  }
  std::size_t threads() const { return of_thread_.size(); }

 private:
  std::vector<std::vector<Scattering>> of_thread_;
};

void write_at(int fd, const char* data, std::size_t bytes, std::size_t offset) {
  while (bytes > 0) {
    const auto done = static_cast<std::size_t>(must(::pwrite(fd, data, bytes, static_cast<off_t>(offset)), "pwrite"));
    data += done;
    bytes -= done;
    offset += done;
  }
}

// Ends the program unless the file has the records of the whole batch.
void check(const std::filesystem::path& path, const Batch& batch) {
  const int fd = static_cast<int>(must(::open(path.c_str(), O_RDONLY | O_CLOEXEC), "open"));
  std::size_t at = 0;
  for (std::size_t t = 0; t < batch.threads(); ++t) {
    std::vector<char> stored(batch.bytes(t));
    const std::int64_t got = must(::pread(fd, stored.data(), stored.size(), static_cast<off_t>(at)), "pread");
    if (static_cast<std::size_t>(got) != stored.size() || std::memcmp(stored.data(), batch.data(t), stored.size()) != 0)
      give_up(fmt::format("transport: '{}' has wrong bytes behind {}", path.string(), at));
    at += stored.size();
  }
  ::close(fd);
  if (std::filesystem::file_size(path) != at) give_up("transport: the file is too long");
}

// Ways of writing, called by every thread of the team.
void in_turn(int fd, const Batch& batch, std::size_t& end) {
#pragma omp for ordered schedule(static, 1)
  for (std::size_t t = 0; t < batch.threads(); ++t) {
#pragma omp ordered
    {
      write_at(fd, batch.data(t), batch.bytes(t), end);
      end += batch.bytes(t);
    }
  }
}
void at_sums(int fd, const Batch& batch, std::size_t&) {
  const auto t = static_cast<std::size_t>(omp_get_thread_num());
#pragma omp barrier
  write_at(fd, batch.data(t), batch.bytes(t), batch.bytes_before(t));
#pragma omp barrier
}
void by_omp_file(int fd, const Batch& batch, std::size_t&) {
  const auto t = static_cast<std::size_t>(omp_get_thread_num());
  must_io(omp_file_write_all(batch.data(t), static_cast<long>(batch.bytes(t)), fd, 0), "omp_file_write_all");
}

struct Way {
  const char* name;
  void (*write)(int fd, const Batch& batch, std::size_t& end);
  bool ours;
};
constexpr Way kWays[] = {
    {"ordered", in_turn, false}, {"pwrite at summed lengths", at_sums, false}, {"omp_file", by_omp_file, true}};

std::vector<double> write(Bench& bench, const Way& way, const Batch& batch) {
  const std::size_t bytes = batch.bytes_before(batch.threads());
  bench.scratch.settle();
  bench.scratch.claim_memory(static_cast<double>(bytes));
  const auto folder = bench.scratch.fresh();
  const int fd = way.ours ? open_omp(folder / "records") : open_new(folder / "records");
  std::size_t end = 0;
  const double written = seconds_of([&] {
#pragma omp parallel num_threads(static_cast<int>(batch.threads()))
    way.write(fd, batch, end);
  });
  const double synced = seconds_of([&] {
    if (way.ours)
      must_io(omp_file_sync_all(fd), "omp_file_sync_all");
    else
      must(::fsync(fd), "fsync");
  });
  check(folder / "records", batch);
  way.ours ? close_omp(fd) : static_cast<void>(::close(fd));
  bench.scratch.drop_bytes(folder);
  return {written, synced};
}

}  // namespace

void bench_transport(Bench& bench) {
  const auto photons = pick<std::uint64_t>(bench.effort, 2000, 500'000, 2'000'000);
  for (const int threads : bench.threads) {
    const Batch batch(photons, threads);
    Comparison comparison(fmt::format("records of {} photons, {} threads", photons, threads),
                          {static_cast<double>(batch.bytes_before(batch.threads())), "byte"}, {"write", "sync"});
    for (const Way& way : kWays) comparison.add(way.name, [&](int) { return write(bench, way, batch); });
    comparison.run(bench.plan(threads));
    bench.report.add(comparison, bench.scratch.kind());
    bench.report.add_target({bench.on(comparison.name() + ": to ordered, write"),
                             comparison.speed("omp_file", "ordered", "write"), 1.0, true, "x"});
  }
}

}  // namespace bench
