// (6) One thread has 99 of 100 bytes. Either each thread moves its own bytes, or all threads share the total.
#include <fmt/format.h>
#include <omp.h>
#include <unistd.h>

#include <utility>

#include "omp_file/files.hpp"
#include "omp_file/parts.hpp"
#include "omp_file/segments.hpp"
#include "support/clock.hpp"

namespace bench {

namespace {

class Skewed {
 public:
  Skewed(Bench& bench, int threads, std::size_t bytes) : bench_(bench), threads_(threads), array_(1, bytes) {}

  std::vector<double> run(const char* name, bool collective, bool checks) {
    bench_.scratch.settle();
    bench_.scratch.claim_memory(array_.bytes());
    const auto folder = bench_.scratch.fresh();
    const int fd = collective ? open_omp(folder / "skewed") : open_new(folder / "skewed");
    const auto move = [&](bool writes) { collective ? together(fd, writes) : each_its_own(fd, writes); };
    const double write = seconds_of([&] { move(true); });
    if (checks) array_.clear();
    const double read = seconds_of([&] { move(false); });
    if (checks) array_.check(name);
    collective ? close_omp(fd) : static_cast<void>(::close(fd));
    bench_.scratch.drop_bytes(folder);
    return {write, read};
  }

 private:
  struct Share {
    std::size_t at, bytes;
  };
  Share share_of(int thread) const {
    const std::size_t total = array_.bytes_each(), others = static_cast<std::size_t>(threads_ - 1);
    const std::size_t rest = total / 100 / others, first = total - rest * others;
    return thread == 0 ? Share{0, first} : Share{first + rest * static_cast<std::size_t>(thread - 1), rest};
  }
  void each_its_own(int fd, bool writes) {
#pragma omp parallel num_threads(threads_)
    {
      auto [at, bytes] = share_of(omp_get_thread_num());
      while (bytes > 0) {
        char* memory = array_.of(0) + at;
        const auto offset = static_cast<off_t>(at);
        const auto done = static_cast<std::size_t>(
            must(writes ? ::pwrite(fd, memory, bytes, offset) : ::pread(fd, memory, bytes, offset), "pwrite or pread"));
        at += done;
        bytes -= done;
      }
    }
  }
  void together(int fd, bool writes) {
#pragma omp parallel num_threads(threads_)
    {
      const Share mine = share_of(omp_get_thread_num());
      char* memory = array_.of(0) + mine.at;
      const auto offset = static_cast<off_t>(mine.at);
      const auto length = static_cast<long>(mine.bytes);
      must_io(writes ? omp_file_write_at_all(memory, length, offset, fd, 0)
                     : omp_file_read_at_all(memory, length, offset, fd, 0),
              "omp_file_..._at_all");
    }
  }

  Bench& bench_;
  int threads_;
  Arrays array_;
};

}  // namespace

void bench_skewed(Bench& bench) {
  const std::size_t total = pick<std::size_t>(bench.effort, 1 << 20, 128 << 20, 256 << 20);
  for (const int threads : bench.threads) {
    if (threads == 1) continue;
    Skewed skewed(bench, threads, total);
    Comparison comparison(fmt::format("99 % with one of {} threads", threads), {static_cast<double>(total), "byte"},
                          {"write", "read"});
    comparison.add("each its own", [&](int round) { return skewed.run("each its own", false, round <= 0); });
    comparison.add("omp_file", [&](int round) { return skewed.run("omp_file", true, round <= 0); });
    comparison.run(bench.plan(threads));
    bench.report.add(comparison, bench.scratch.kind());
    if (threads != 2) continue;
    for (const char* phase : {"write", "read"})
      bench.report.add_target({bench.on(fmt::format("99 % with one thread: to each its own, {}", phase)),
                               comparison.speed("omp_file", "each its own", phase),
                               1.0,
                               true,
                               "x",
                               {},
                               {}});
  }
}

}  // namespace bench
