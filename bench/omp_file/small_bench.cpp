// The cost of a collective without data; (7) many records of 64 bytes.
#include <fcntl.h>
#include <fmt/format.h>
#include <omp.h>
#include <omp_file.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "omp_file/files.hpp"
#include "omp_file/parts.hpp"
#include "support/clock.hpp"

namespace bench {

namespace {

constexpr std::size_t kRecord = 64;

// Seconds of a typical call: the median of batches, measured by thread 0.
double typical_empty(int fd, int threads, int batches) {
  constexpr int kBatch = 200;
  std::vector<double> seconds;
#pragma omp parallel num_threads(threads)
  for (int b = 0; b < batches; ++b) {
    const double start = now();
    for (int i = 0; i < kBatch; ++i) must_io(omp_file_write_all(nullptr, 0, fd, 0), "omp_file_write_all");
    if (omp_get_thread_num() == 0) seconds.push_back((now() - start) / kBatch);
  }
  return spread_of(seconds).median;
}

// Verifies every record of the shared file: record i of thread t at i * threads + t.
void check_records(const std::filesystem::path& path, const std::vector<std::vector<char>>& records) {
  const int fd = static_cast<int>(must(::open(path.c_str(), O_RDONLY | O_CLOEXEC), "open"));
  std::vector<char> row(kRecord * records.size());
  for (std::size_t i = 0; i < records[0].size() / kRecord; ++i) {
    must(::pread(fd, row.data(), row.size(), static_cast<off_t>(i * row.size())), "pread");
    for (std::size_t t = 0; t < records.size(); ++t)
      if (std::memcmp(row.data() + t * kRecord, records[t].data() + i * kRecord, kRecord) != 0)
        give_up(fmt::format("records: wrong bytes in record {} of thread {}", i, t));
  }
  ::close(fd);
}

using Records = std::vector<std::vector<char>>;
using Body = std::function<void(const Records&, int fd, std::size_t thread, std::size_t threads)>;

void write_critical(const Records& records, int fd, std::size_t t, std::size_t threads) {
  for (std::size_t i = 0; i < records[t].size() / kRecord; ++i) {
#pragma omp critical(bench_records)
    must(::pwrite(fd, records[t].data() + i * kRecord, kRecord, static_cast<off_t>((i * threads + t) * kRecord)),
         "pwrite");
  }
}

void write_each(const Records& records, int fd, std::size_t t, std::size_t) {
  for (std::size_t i = 0; i < records[t].size() / kRecord; ++i)
    must_io(omp_file_write_all(records[t].data() + i * kRecord, kRecord, fd, 0), "omp_file_write_all");
}

void write_lists(const Records& records, int fd, std::size_t t, std::size_t threads) {
  constexpr std::size_t kBatch = 16384;
  const std::size_t n = records[t].size() / kRecord;
  std::vector<iovec> list;
  std::vector<off_t> offsets;
  for (std::size_t i = 0; i < n;) {
    list.clear();
    offsets.clear();
    for (; i < n && list.size() < kBatch; ++i) {
      list.push_back({const_cast<char*>(records[t].data() + i * kRecord), kRecord});
      offsets.push_back(static_cast<off_t>((i * threads + t) * kRecord));
    }
    must_io(omp_file_write_list_at_all(list.data(), offsets.data(), static_cast<int>(list.size()), fd, 0),
            "omp_file_write_list_at_all");
  }
}

double write_records(Bench& bench, const Records& records, bool collective, const Body& body, bool check) {
  const auto folder = bench.scratch.fresh();
  const auto path = folder / "records";
  const int fd = collective ? open_omp(path) : open_new(path);
  const double seconds = seconds_of([&] {
#pragma omp parallel num_threads(static_cast<int>(records.size()))
    body(records, fd, static_cast<std::size_t>(omp_get_thread_num()), records.size());
  });
  if (collective)
    close_omp(fd);
  else
    ::close(fd);
  if (check) check_records(path, records);
  bench.scratch.drop_bytes(folder);
  return seconds;
}

}  // namespace

void bench_empty(Bench& bench) {
  for (const int threads : bench.threads) {
    const auto folder = bench.scratch.fresh();
    const int fd = open_omp(folder / "empty");
    std::vector<double> all;
    for (int i = 0; i < pick(bench.effort, 1, 11, 31); ++i)
      all.push_back(1e6 * typical_empty(fd, threads, threads > 4 ? 5 : 50));
    close_omp(fd);
    const Spread spread = spread_of(all);
    bench.report.add_fact(fmt::format("empty_{}_{}", bench.scratch.kind(), threads), spread.median,
                          fmt::format("an empty collective of {} threads: {:.2f} us", threads, spread.median));
    if (threads == 2) bench.report.add_target({bench.on("an empty collective of 2 threads"), spread, 2, false, "us"});
  }
}

void bench_records(Bench& bench) {
  for (const int threads : bench.threads) {
    // Records per thread; fewer where a collective is slow: many threads on few cores.
    const std::size_t many = pick<std::size_t>(bench.effort, 100, 40'000, threads == 2 ? 200'000 : 50'000);
    const std::size_t n = std::max(2 * many / static_cast<std::size_t>(threads), std::size_t{1});
    Records records(static_cast<std::size_t>(threads), std::vector<char>(n * kRecord));
    for (std::size_t t = 0; t < records.size(); ++t)
      for (std::size_t i = 0; i < records[t].size(); ++i)
        records[t][i] = static_cast<char>(i * 7 + i / kRecord + t * 31);
    Comparison comparison(fmt::format("records of 64 bytes from {} threads", threads),
                          {static_cast<double>(n) * threads, "record"}, {"write"});
    const auto add = [&](const char* name, bool collective, Body body) {
      comparison.add(name, [&bench, &records, collective, body = std::move(body)](int repetition) {
        return std::vector<double>{write_records(bench, records, collective, body, repetition <= 0)};
      });
    };
    add("critical + pwrite", false, write_critical);
    add("write_all, one record per call", true, write_each);
    add("write_list_at_all", true, write_lists);
    comparison.run(bench.plan(threads));
    bench.report.add(comparison, bench.scratch.kind());
    if (threads != 2) continue;
    bench.report.add_target({bench.on("64-byte records, lists to critical + pwrite"),
                             comparison.speed("write_list_at_all", "critical + pwrite", "write"), 20, true, "x"});
    bench.report.add_target({bench.on("64-byte records, one per call to critical + pwrite"),
                             comparison.speed("write_all, one record per call", "critical + pwrite", "write"), 20, true,
                             "x"});
  }
}

}  // namespace bench
