// The part of a write hidden behind computation: the write alone takes w seconds, the computation alone c, both
// together t. Hidden: (w + c - t) / min(w, c).
#include <algorithm>
#include <cstring>

#include "caches.hpp"
#include "stage.hpp"
#include "stopwatch.hpp"

namespace probe {

namespace {

// Runs `turns` iterations of a loop on registers, which uses only a core, in slices; calls `between` after each slice.
void compute(std::int64_t turns, const std::function<void()>& between) {
  constexpr std::int64_t kSlices = 256;
  static volatile double result = 0;  // keeps the loop from being optimised away
  double x = result + 0.5;
  for (std::int64_t slice = 0; slice < kSlices; ++slice) {
    const std::int64_t end = turns * (slice + 1) / kSlices;
    for (std::int64_t i = turns * slice / kSlices; i < end; ++i) x = x * 0.999999 + 1e-6;
    between();
  }
  result = x;
}

}  // namespace

// Iterations of the loop that take about `seconds` when all ranks compute.
std::int64_t Stage::turns_for(double seconds) const {
  constexpr std::int64_t kTried = 2'000'000;  // a few milliseconds
  const Timed tried = timed([] {
    compute(kTried, [] {});
    return Parts();
  });
  constexpr double kShortest = 1e-3;
  return static_cast<std::int64_t>(static_cast<double>(kTried) * std::max(kShortest, seconds) / tried.seconds);
}

void Stage::overlap_phase(OverlappingMethod& method) {
  enter(Phase::overlap);
  Task task = task_for(ranks_.all(), block_of(cell_.array, cell_.grid, ranks_.rank()), written_.span());
  const auto write = [&](const std::string& name, const OverlappingMethod::Compute& meanwhile) {
    task.folder = folder_ + name;
    make_folder(task.folder);
    return timed([&] {
      Parts parts = method.write_while(task, meanwhile);
      Lap lap;
      if (options_.syncs()) sync_folder(ranks_, task.folder);
      parts.close += lap();
      return parts;
    });
  };
  const Timed alone = write(".alone", [](const auto& /*between*/) {});
  remove_folder(task.folder);
  const std::int64_t turns = turns_for(alone.seconds);
  const Timed computing = timed([&] {
    compute(turns, [] {});
    return Parts();
  });
  const Timed both = write(".both", [&](const auto& between) { compute(turns, between); });
  const Cache cache = write_cache();
  std::memset(written_.span().data(), 0xFF, written_.size());
  method.read(task);
  check(cell_.array, task.block, seed_, task.memory);
  remove_folder(task.folder);
  const double saved = alone.seconds + computing.seconds - both.seconds;
  const double hidden = std::clamp(saved / std::min(alone.seconds, computing.seconds), 0.0, 1.0);
  record(Phase::overlap, both, cache, {{"compute_seconds", computing.seconds}, {"hidden", hidden}});
}

}  // namespace probe
