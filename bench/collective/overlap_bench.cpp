// (b) A nonblocking collective write or read while all ranks compute, with and without calls that test for completion.
// The part of the shorter time that is hidden behind the longer one:
//
//     overlap = 1 - (t_both - max(t_compute, t_io)) / min(t_compute, t_io)
//
// On the disk Thalweg uses direct I/O, since a copy from or to the page cache takes processor time and all processors
// compute; a variant through the page cache is shown, too. MPI-IO uses the page cache: it has no portable alternative.
// Files to read were written and dropped from the page cache before.
// Each overlap uses the variant's own time alone. "start" is the time of the starting call, on the slowest rank. "core"
// is the processor time of threads other than the computing one, on the rank with most: all cores compute, so that it
// cannot be hidden and limits the overlap.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "collective/parts.hpp"

namespace bench {

namespace {

constexpr int kSlices = 100;  // of the computation; in variants with tests, one follows each

double work(std::int64_t rounds) {
  double x = 1.0001;
  for (std::int64_t i = 0; i < rounds; ++i) x = std::sqrt(x * 1.0000001 + 1e-9);
  return x;
}

double ignored = 0;  // keeps the work from being optimised away

double processor_seconds(int whose) {
  rusage used{};
  must(getrusage(whose, &used), "getrusage");
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

// Processor time of all threads of this process except the calling one.
double seconds_of_others() { return processor_seconds(RUSAGE_SELF) - processor_seconds(RUSAGE_THREAD); }

class Computation {
 public:
  explicit Computation(const Ranks& ranks) : ranks_(ranks) {
    constexpr std::int64_t kSome = 4'000'000;
    seconds_per_round_ = ranks.timed([&] { ignored += work(kSome); }) / kSome;
  }
  // Calibrates a computation of about `seconds` when all ranks compute.
  void last(double seconds) { rounds_ = static_cast<std::int64_t>(seconds / seconds_per_round_ / kSlices); }
  double alone() const {
    return ranks_.timed([&] { run(nullptr); });
  }
  // True when a test found `pending` complete.
  bool run(Pending* pending) const {
    bool done = false;
    for (int slice = 0; slice < kSlices; ++slice) {
      ignored += work(rounds_);
      if (pending != nullptr && !done) done = pending->test();
    }
    return done;
  }

 private:
  const Ranks& ranks_;
  double seconds_per_round_ = 0;
  std::int64_t rounds_ = 0;
};

struct Variant {
  std::string name;
  OpenFile open;
  bool tests;
  double bound;  // 0: no target
};

std::vector<Variant> variants(const Bench& bench, bool reads) {
  constexpr double kAsked = 90;
  const std::string peer = reads ? "MPI_File_iread_all" : "MPI_File_iwrite_all";
  const bool direct = !bench.storage.in_memory();
  const auto our = [&](tw_progress mode, bool past) { return ours(bench.group, {Form::blocking, mode, past}); };
  std::vector<Variant> all = {
      {"ours, thread", our(TW_PROGRESS_THREAD, direct), false, kAsked},
      {"ours, thread, tests", our(TW_PROGRESS_THREAD, direct), true, kAsked},
      {"ours, poll", our(TW_PROGRESS_POLL, direct), false, 0},
      {"ours, poll, tests", our(TW_PROGRESS_POLL, direct), true, 0},
      {peer, mpi_collective(), false, 0},
      {peer + ", tests", mpi_collective(), true, 0},
  };
  if (direct) all.push_back({"ours, thread, page cache", our(TW_PROGRESS_THREAD, false), false, 0});
  return all;
}

class Overlap {
 public:
  Overlap(Bench& bench, const std::string& name, Layout layout, bool reads)
      : bench_(bench),
        reads_(reads),
        name_(bench.named((reads ? "overlap of reads, " : "overlap, ") + name)),
        layout_(std::move(layout)),
        memory_(layout_.bytes),
        access_(whole_of(layout_, memory_)),
        computation_(bench.ranks) {}

  void run() {
    Together together(bench_.ranks, name_, {static_cast<double>(layout_.file_bytes), "byte"},
                      {"io", "compute", "both", "start", "core"});
    const std::vector<Variant> all = variants(bench_, reads_);
    for (const Variant& variant : all) together.add(variant.name, [this, variant](int) { return measure(variant); });
    together.run(bench_.plan(together.variants()));
    bench_.say(together);
    if (!bench_.ranks.first()) return;
    for (const Variant& variant : all) tell(together.results(), variant);
  }

 private:
  std::vector<double> measure(const Variant& variant) {
    const double io = move(variant, false).all;
    computation_.last(io);
    const double compute = computation_.alone();
    const Seconds both = move(variant, true);
    return {io, compute, both.all, both.start, both.core};
  }

  struct Seconds {
    double all = 0, start = 0, core = 0;
  };
  Seconds move(const Variant& variant, bool computes) {
    const std::string path = bench_.storage.fresh_path(static_cast<double>(layout_.file_bytes));
    auto file = opened(variant.open, path, layout_);
    const std::uint32_t seed = next_seed();
    memory_.fill(layout_, seed);
    if (reads_) {
      file->write(access_);
      bench_.storage.forget(path);
      memory_.clear();
    }
    Seconds seconds;
    const double others = seconds_of_others();
    seconds.all = bench_.ranks.timed([&] {
      std::unique_ptr<Pending> pending;
      seconds.start = seconds_of([&] { pending = reads_ ? file->start_read(access_) : file->start_write(access_); });
      const bool done = computes && computation_.run(variant.tests ? pending.get() : nullptr);
      if (!done) pending->wait();
    });
    seconds.core = bench_.ranks.largest(seconds_of_others() - others);
    seconds.start = bench_.ranks.largest(seconds.start);
    must_be_right(reads_ ? memory_.wrong(layout_, seed)
                         : wrong_in_file(path, layout_.file_bytes, seed, bench_.ranks.rank(), bench_.ranks.size()),
                  name_ + ", " + variant.name);
    file.reset();
    bench_.storage.drop(path);
    return seconds;
  }

  void tell(const Comparison& results, const Variant& variant) const {
    const auto& io = results.samples(variant.name, "io");
    const auto& compute = results.samples(variant.name, "compute");
    const auto& both = results.samples(variant.name, "both");
    const auto& core = results.samples(variant.name, "core");
    std::vector<double> shares, limits;
    for (std::size_t i = 0; i < io.size(); ++i) {
      const double shorter = std::min(io[i], compute[i]);
      shares.push_back(100 * (1 - (both[i] - std::max(io[i], compute[i])) / shorter));
      limits.push_back(100 * (1 - core[i] / shorter));
    }
    const Spread share = spread_of(shares);
    const std::string name = fmt::format("{}: {}", name_, variant.name);
    tell_start(results, variant, name);
    if (variant.bound > 0)
      return bench_.report.add_target({name, share, variant.bound, true, "%", {{"cores", spread_of(limits).median}}});
    bench_.report.add_fact(name, share.median,
                           fmt::format("{}: {:.0f} % ({:.0f} .. {:.0f})", name, share.median, share.low, share.high));
  }

  // The target concerns the progress thread: other variants copy into the page cache in the call, or belong to MPI.
  void tell_start(const Comparison& results, const Variant& variant, const std::string& name) const {
    constexpr double kAsked = 50;
    Spread start = spread_of(results.samples(variant.name, "start"));
    for (double* seconds : {&start.low, &start.median, &start.high}) *seconds *= 1e6;
    if (variant.bound > 0 && layout_.pieces.size() == 1)
      return bench_.report.add_target({"start of " + name, start, kAsked, false, "us"});
    bench_.report.add_fact(
        "start of " + name, start.median,
        fmt::format("start of {}: {:.0f} us ({:.0f} .. {:.0f})", name, start.median, start.low, start.high));
  }

  Bench& bench_;
  bool reads_;
  std::string name_;
  Layout layout_;
  Memory memory_;
  Access access_;
  Computation computation_;
};

}  // namespace

void bench_overlap(Bench& bench) {
  if (bench.storage.in_memory() && !bench.storage.delayed()) return;  // no device that could work in the background
  if (bench.lacks_nonblocking_peer()) return;
  const int rank = bench.ranks.rank(), ranks = bench.ranks.size();
  const std::int64_t each = pick<std::int64_t>(bench.effort, 256 << 10, 64 << 20, 256 << 20) / ranks;
  constexpr std::int64_t kPiece = 64 << 10;
  for (const bool reads : {false, true}) {
    Overlap(bench, "contiguous", contiguous(each, 1, rank, ranks), reads).run();
    Overlap(bench, "strided", interleaved(kPiece, each / kPiece, rank, ranks), reads).run();
  }
}

}  // namespace bench
