// (1) to (4): segments of 4 KiB to 64 MiB per call, written and read by 1 to 16 threads, through the page cache, with a
// sync at the end, and with direct I/O.
#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "omp_file/disk_limit.hpp"
#include "omp_file/parts.hpp"
#include "omp_file/segments.hpp"
#include "support/clock.hpp"

namespace bench {

namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

std::string size_text(std::size_t bytes) {
  return bytes >= kMiB ? fmt::format("{} MiB", bytes / kMiB) : fmt::format("{} KiB", bytes >> 10);
}

// memcpy of the bytes by these threads: a lower bound for any page cache.
double copy_in_memory(const Segments& load, std::vector<char>& to) {
  return seconds_of([&] {
#pragma omp parallel for schedule(static, 1) num_threads(load.arrays.threads())
    for (int t = 0; t < load.arrays.threads(); ++t) {
      const std::size_t each = load.arrays.bytes_each();
      for (std::size_t at = 0; at < each; at += load.segment)
        std::memcpy(to.data() + static_cast<std::size_t>(t) * each + at, load.arrays.of(t) + at, load.segment);
    }
  });
}

Comparison::Run one_run(Bench& bench, const Segments& load, Way way) {
  return [&bench, load, way = std::move(way)](int) -> std::vector<double> {
    bench.scratch.settle();
    // When memory is full, pages of the previous file are still in the cache, equally for all variants.
    bench.scratch.claim_memory(load.arrays.bytes());
    const auto folder = bench.scratch.fresh();
    const double write = way.write(folder, load);
    if (load.store == Store::direct) drop_cache(folder);
    load.arrays.clear();
    const double read = way.read(folder, load);
    load.arrays.check(way.name.c_str());
    bench.scratch.drop_bytes(folder);
    return {write, read};
  };
}

// The targets of one comparison: a row of the table.
class Targets {
 public:
  Targets(Bench& bench, const Comparison& comparison, const Segments& load, const std::optional<DiskLimit>& disk)
      : bench_(bench), comparison_(comparison), load_(load), disk_(disk) {
    const int n = load.arrays.threads();
    row_ = bench.on(
        fmt::format("{} thread{}, {}, {}", n, n == 1 ? "" : "s", size_text(load.segment), store_name(load.store)));
  }

  void add() const {
    const bool large = load_.segment >= kMiB;
    const int n = load_.arrays.threads();
    if (large && n > 1) add_one("write", "write_all", "ordered", 1.5);
    for (const Way& form : omp_ways()) add_form(form.name);
    if (large) add_one("write", "write_all", "file per thread", 1.0);
    if (large && n == 2 && load_.store == Store::cache) add_one("read", "write_at_all", "memcpy", 0.95);
  }

 private:
  // Upper bounds of the speed-up over `peer`. The kernel admits one buffered writer of a file at a time.
  std::vector<Limit> limits(const std::string& peer) const {
    const auto times = [&](const char* limit) { return comparison_.speed(limit, peer, "write").median; };
    std::vector<Limit> found;
    if (load_.store != Store::direct) {
      found.push_back({"memcpy", times("memcpy")});
      found.push_back({"one stream", times("one stream")});
    }
    if (load_.store != Store::cache && disk_) {
      const double rate = load_.arrays.bytes() / comparison_.seconds(peer, "write").median;
      found.push_back({disk_->name, disk_->bytes_per_second / rate});
    }
    std::sort(found.begin(), found.end(), [](const Limit& a, const Limit& b) { return a.value < b.value; });
    return found;
  }
  void add_one(const std::string& phase, const std::string& ours, const std::string& peer, double bound) const {
    const bool writes = phase == "write";
    bench_.report.add_target({fmt::format("{}: {} to {}, {}", row_, ours, peer, phase),
                              comparison_.speed(ours, peer, phase),
                              bound,
                              true,
                              "x",
                              writes ? limits(peer) : std::vector<Limit>{},
                              {row_, fmt::format("{} / {}", writes ? ours : "read", peer), {}}});
  }
  void add_form(const std::string& form) const {
    bench_.report.add_target({fmt::format("{}: {} not below ordered", row_, form),
                              comparison_.speed(form, "ordered", "write"),
                              1.0,
                              true,
                              "x",
                              limits("ordered"),
                              {row_, "worst form / ordered", form}});
  }

  Bench& bench_;
  const Comparison& comparison_;
  const Segments& load_;
  const std::optional<DiskLimit>& disk_;
  std::string row_;
};

// Bytes of a comparison: sufficient for a measurement, and few for small calls, so that each can be repeated.
std::size_t total_bytes(const Bench& bench, std::size_t threads, std::size_t segment) {
  std::size_t total = kMiB;
  if (bench.effort == Effort::quick) total = (segment <= kMiB ? 64 : 256) * kMiB;
  if (bench.effort == Effort::full) {
    total = (segment < 64 << 10 ? 64 : segment < kMiB ? 128 : segment == kMiB ? 256 : 512) * kMiB;
    if (threads != 2) total /= segment < 64 << 10 ? 4 : 2;  // a collective of many threads on few cores is slow
  }
  return std::max(total, threads * segment);
}

void compare(Bench& bench, int threads, std::size_t segment, Store store, const std::optional<DiskLimit>& disk) {
  const auto team = static_cast<std::size_t>(threads);
  const std::size_t each = total_bytes(bench, team, segment) / team / segment * segment;
  Arrays arrays(threads, bench.effort == Effort::tiny ? segment : each);
  const Segments load{arrays, segment, store};
  Comparison comparison(fmt::format("{} threads, segments of {}, {}", threads, size_text(segment), store_name(store)),
                        {arrays.bytes(), "byte"}, {"write", "read"});
  for (const Way& way : plain_ways(store))
    if (threads == 2 || way.has_target) comparison.add(way.name, one_run(bench, load, way));
  for (const Way& way : omp_ways()) comparison.add(way.name, one_run(bench, load, way));
  std::vector<char> copy(static_cast<std::size_t>(arrays.bytes()));
  comparison.add("memcpy", [&](int) {
    const double seconds = copy_in_memory(load, copy);
    return std::vector<double>{seconds, seconds};
  });
  comparison.run(bench.plan(threads));
  bench.report.add(comparison, bench.scratch.kind());
  Targets(bench, comparison, load, disk).add();
}

std::optional<DiskLimit> disk_below(Bench& bench, int threads) {
  if (bench.scratch.in_memory()) return std::nullopt;
  const DiskLimit disk = measure_disk(bench.scratch, threads, pick<std::size_t>(bench.effort, 1, 256, 512) * kMiB);
  const double rate = disk.bytes_per_second / 1e9;
  bench.report.add_fact(
      fmt::format("disk_{}_{}", bench.scratch.kind(), threads),
      {{"measured_by", disk.name}, {"bytes_per_second", disk.bytes_per_second}},
      fmt::format("the disk, {} at once past the page cache, by {}: {:.2f} GB/s", threads, disk.name, rate));
  return disk;
}

// Two threads measure all sizes; other numbers omit one that adds no information.
std::vector<std::size_t> sizes_for(const Bench& bench, int threads) {
  if (bench.effort == Effort::tiny) return {4096, kMiB};
  if (bench.effort == Effort::quick) return {4096, kMiB, 16 * kMiB};
  if (threads != 2) return {4096, kMiB, 16 * kMiB, 64 * kMiB};
  return {4096, 64 << 10, kMiB, 16 * kMiB, 64 * kMiB};
}

}  // namespace

void bench_segments(Bench& bench) {
  for (const int threads : bench.threads) {
    const std::optional<DiskLimit> disk = disk_below(bench, threads);
    for (const std::size_t segment : sizes_for(bench, threads)) {
      for (const Store store : {Store::cache, Store::sync, Store::direct}) {
        if (bench.scratch.in_memory() && store != Store::cache) continue;
        if (store == Store::direct && segment < (64U << 10))
          continue;  // calls of one block measure the device's
                     // latency only
        compare(bench, threads, segment, store, disk);
      }
    }
  }
}

}  // namespace bench
