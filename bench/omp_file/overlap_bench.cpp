// A nonblocking write with direct I/O while all threads of the team compute. The part of the shorter time that is
// hidden behind the longer one:
//
//     overlap = (t_write + t_compute - t_both) / min(t_write, t_compute)
#include <fcntl.h>
#include <fmt/format.h>
#include <omp.h>
#include <omp_file.h>

#include <cmath>

#include "omp_file/parts.hpp"
#include "omp_file/segments.hpp"
#include "support/clock.hpp"

namespace bench {

namespace {

double work(long rounds) {
  double x = 1.0001;
  for (long i = 0; i < rounds; ++i) x = std::sqrt(x * 1.0000001 + 1e-9);
  return x;
}

struct Times {
  double write, compute, both;
};

class Overlap {
 public:
  Overlap(Bench& bench, Arrays& arrays) : bench_(bench), arrays_(arrays) {}

  // Sets the rounds of computation that take about as long as the write.
  void calibrate() {
    rounds_ = 1'000'000;
    const double write = seconds(true, false);
    rounds_ = static_cast<long>(1e6 * write / seconds(false, true));
  }
  Times measure() { return {seconds(true, false), seconds(false, true), seconds(true, true)}; }

 private:
  double seconds(bool writes, bool computes) {
    bench_.scratch.settle();
    const auto folder = bench_.scratch.fresh();
    int fd = -1;
    double took = 0;
    const int threads = arrays_.threads();
    const auto each = static_cast<long>(arrays_.bytes_each());
#pragma omp parallel num_threads(threads)
    {
      const int t = omp_get_thread_num();
      must_io(omp_file_open_all(&fd, (folder / "u").c_str(), O_RDWR | O_CREAT | O_TRUNC | O_DIRECT, 0666), "open");
#pragma omp barrier
      const double start = now();
      omp_file_request request = OMP_FILE_REQUEST_NULL;
      if (writes)
        must_io(omp_file_iwrite_at_all(arrays_.of(t), each, each * t, fd, 0, &request), "omp_file_iwrite_at_all");
      if (computes) {
        const double result = work(rounds_);
#pragma omp atomic
        sum_ += result;
      }
      must_io(omp_file_wait_all(&request), "omp_file_wait_all");
#pragma omp barrier
      if (t == 0) took = now() - start;
    }
    if (writes) check(fd);
#pragma omp parallel num_threads(threads)
    must_io(omp_file_close_all(fd), "omp_file_close_all");
    bench_.scratch.drop_bytes(folder);
    return took;
  }

  void check(int fd) {
    if (checked_) return;
    checked_ = true;
    arrays_.clear();
#pragma omp parallel num_threads(arrays_.threads())
    {
      const int t = omp_get_thread_num();
      const auto each = static_cast<long>(arrays_.bytes_each());
      must_io(omp_file_read_at_all(arrays_.of(t), each, each * t, fd, 0), "omp_file_read_at_all");
    }
    arrays_.check("a nonblocking write");
  }

  Bench& bench_;
  Arrays& arrays_;
  long rounds_ = 0;
  double sum_ = 0;  // keeps the work from being optimised away
  bool checked_ = false;
};

}  // namespace

void bench_overlap(Bench& bench) {
  if (bench.scratch.in_memory()) return;  // no direct I/O, and no device that could work in the background
  constexpr int kThreads = 2;
  Arrays arrays(kThreads, pick<std::size_t>(bench.effort, 1 << 20, 512 << 20, 512 << 20));
  Overlap overlap(bench, arrays);
  overlap.calibrate();
  std::vector<double> shares;
  Times last{};
  for (int i = 0; i < pick(bench.effort, 1, 5, 11); ++i) {
    last = overlap.measure();
    shares.push_back(100 * (last.write + last.compute - last.both) / std::min(last.write, last.compute));
  }
  const Spread share = spread_of(shares);
  bench.report.add_fact("overlap_percent", share.median,
                        fmt::format("overlap = (t_write + t_compute - t_both) / min(t_write, t_compute) = {:.1f} % "
                                    "({:.0f} ms, {:.0f} ms, both {:.0f} ms in the last run)",
                                    share.median, 1e3 * last.write, 1e3 * last.compute, 1e3 * last.both));
  bench.report.add_target({bench.on("nonblocking direct write of 1 GiB behind computing"), share, 95, true, "%"});
}

}  // namespace bench
