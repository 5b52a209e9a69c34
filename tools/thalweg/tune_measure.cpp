// Runs of `thalweg tune`, and their repetitions.
#include "tune_measure.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <system_error>
#include <thalweg/file.hpp>

#include "common.hpp"
#include "threads.hpp"

namespace tool {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kShareUnit = 64 * 1024;
constexpr int kMostRuns = 70;  // per repetition

// The share of task `rank` in `bytes` from offset 0, in whole units.
Stretch share_of(int64_t bytes, int64_t rank, int64_t tasks) {
  const int64_t units = bytes / kShareUnit;
  return {units * rank / tasks * kShareUnit, units * (rank + 1) / tasks * kShareUnit};
}

double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  return (values[values.size() / 2] + values[(values.size() - 1) / 2]) / 2;
}

Json speed_of(const Timed& run) {
  const auto speed = [&](double seconds) {
    return static_cast<double>(run.bytes) / static_cast<double>(kMiB) / std::max(seconds, 1e-9);
  };
  const auto [least, most] = std::ranges::minmax(run.seconds);
  return {{"what", run.what},
          {"mib_per_s", {{"median", speed(run.median())}, {"least", speed(most)}, {"most", speed(least)}}}};
}

}  // namespace

double Timed::median() const { return median_of(seconds); }

double Timed::byte_ns() const { return rounded(std::max(0.001, median() * 1e9 / static_cast<double>(bytes))); }

double median_ratio(const Timed& a, const Timed& b) {
  std::vector<double> ratios;
  for (size_t i = 0; i < a.seconds.size(); ++i) ratios.push_back(a.seconds[i] / std::max(b.seconds[i], 1e-9));
  return median_of(std::move(ratios));
}

double rounded(double value) { return std::round(value * 1e4) / 1e4; }

double together(int64_t tasks, const Work& work) {
  stop_if_interrupted();
  std::vector<Clock::time_point> begin(static_cast<size_t>(tasks)), end(begin);
  on_threads(tasks, [&](int64_t rank, const std::atomic<bool>&) {
    const auto at = static_cast<size_t>(rank);
    begin[at] = Clock::now();
    work(rank, begin[at]);
    end[at] = Clock::now();
  });
  return std::chrono::duration<double>(std::ranges::max(end) - std::ranges::min(begin)).count();
}

void plain_move(bool writes, const PosixFile& file, std::span<std::byte> memory, const Stretch& stretch) {
  const auto size = std::ssize(memory);
  for (int64_t at = stretch.begin, n = 0; at < stretch.end; at += n) {
    n = std::min({stretch.call_bytes, stretch.end - at, size - at % size});
    const auto part = memory.subspan(static_cast<size_t>(at % size), static_cast<size_t>(n));
    if (writes)
      file.write(part, at);
    else
      file.read(part, at);
  }
}

Buffer filled(int64_t bytes, unsigned seed) {
  Buffer memory(static_cast<size_t>(bytes));
  const std::span words(reinterpret_cast<uint64_t*>(memory.span().data()), memory.span().size() / sizeof(uint64_t));
  std::ranges::generate(words, std::mt19937_64(seed));
  return memory;
}

ScratchFolder::ScratchFolder(const std::string& parent) : path(parent + "/thalweg-tune-XXXXXX") {
  if (mkdtemp(path.data()) == nullptr) fail_with_errno("create a scratch folder in", parent);
}

ScratchFolder::~ScratchFolder() {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (error) say(fmt::format("'{}' could not be removed: {}", path, error.message()));
}

Workbench::Workbench(const TuneOptions& given, Measured& measured)
    : options(given),
      found(measured),
      folder(given.folder),
      cached(folder.path + "/cached", PosixFile::Use::create),
      past_cache(folder.path + "/direct", PosixFile::Use::create),
      source(filled(given.bytes, 1)),
      target(filled(given.bytes, 2)),
      progress_("tune", given.quiet),
      until_(Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(given.seconds))) {
}

const Timed& Workbench::add(const std::string& what, const std::function<double()>& once, int64_t bytes) {
  return runs_.emplace_back(what, bytes > 0 ? bytes : options.bytes, once);
}

void Workbench::take_turns(int times) {
  const std::ranges::subrange added(runs_.begin() + static_cast<std::ptrdiff_t>(done_), runs_.end());
  done_ = runs_.size();
  const int least = times * std::min(options.repetitions, kLeastRepetitions);
  for (int repetition = 0; repetition < times * options.repetitions; ++repetition) {
    found.late = found.late || Clock::now() > until_;
    if (found.late && repetition >= least) break;
    for (Timed& run : added) {
      stop_if_interrupted();
      run.seconds.push_back(run.once());
      progress_.add(options.bytes, options.bytes * kMostRuns * options.repetitions);
    }
  }
  for (const Timed& run : added)
    if (!run.what.empty()) found.speeds.push_back(speed_of(run));
}

double Workbench::plain_run(bool writes, bool fresh, int64_t tasks) const {
  if (fresh) std::filesystem::resize_file(cached.path(), 0);
  const double seconds = together(tasks, [&](int64_t rank, const auto& /*begin*/) {
    plain_move(writes, cached, (writes ? source : target).span(), share_of(options.bytes, rank, tasks));
  });
  if (writes) cached.sync();  // no dirty pages remain during later measurements
  return seconds;
}

double Workbench::direct_run(bool writes, bool fresh, int64_t tasks, const std::string& hints) const {
  if (fresh) std::filesystem::resize_file(past_cache.path(), 0);
  const Team team(tasks);
  // Every status is equal on all tasks: none is left waiting.
  const double seconds = together(tasks, [&](int64_t rank, auto& begin) {
    thalweg::Options with;
    with.hints("io=direct," + hints);
    thalweg::File opened(team.group(rank), past_cache.path(), writes ? TW_WRITE : TW_READ, with);
    begin = Clock::now();
    const Stretch share = share_of(options.bytes, rank, tasks);
    const auto from = static_cast<size_t>(share.begin), n = static_cast<size_t>(share.end) - from;
    if (writes)
      opened.write_at_all(source.span().subspan(from, n), share.begin);
    else
      opened.read_at_all(target.span().subspan(from, n), share.begin);
    opened.close();
  });
  if (writes) past_cache.sync();
  posix_fadvise(past_cache.fd(), 0, 0, POSIX_FADV_DONTNEED);
  return seconds;
}

Measured measure_storage(const TuneOptions& options) {
  Measured found;
  Workbench bench(options, found);
  measure_small(bench);
  measure_bytes(bench);
  measure_files(bench);
  found.late = found.late && options.repetitions > kLeastRepetitions;
  return found;
}

}  // namespace tool
