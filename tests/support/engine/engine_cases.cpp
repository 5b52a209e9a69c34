#include "support/engine/engine_cases.hpp"

#include <algorithm>
#include <cstring>

#include "support/campaign/random.hpp"

namespace thalweg::test {

namespace {

bool is_empty(const Case& what, TaskRank task) {
  return what.some_empty && random_of(what.seed, 77 + static_cast<std::uint64_t>(task))() % 3 == 0;
}

// Lengths that every task can compute for every other one; placement by rank order needs them.
std::uint64_t block_bytes(const Case& what, TaskRank task) {
  if (is_empty(what, task)) return 0;
  if (what.layout == Layout::skewed) return (task == what.tasks / 2 ? 9000 : 90) * what.scale;
  Random random = random_of(what.seed, 1000 + static_cast<std::uint64_t>(task));
  return below(random, 700) * what.scale + below(random, 3);
}

void blocks(const Case& what, TaskRank task, Random& random, std::vector<Extent>& places) {
  std::uint64_t offset = 100;
  for (TaskRank t = 0; t < task; ++t) offset += block_bytes(what, t);
  std::uint64_t left = block_bytes(what, task);
  while (left > 0) {
    const std::uint64_t now = std::min(left, 1 + below(random, 300) * what.scale);
    places.push_back({nullptr, now, offset});
    offset += now;
    left -= now;
  }
}

void strided(const Case& what, TaskRank task, std::vector<Extent>& places) {
  Random random = random_of(what.seed, 5);
  const std::uint64_t n = 2 + below(random, 12);
  const std::uint64_t bytes = 1 + below(random, 100) * what.scale;
  const std::uint64_t stride = bytes + 1 + below(random, 200) * what.scale;
  for (std::uint64_t i = 0; i < n; ++i)
    places.push_back({nullptr, bytes, (static_cast<std::uint64_t>(task) * n + i) * stride});
}

void interleaved(const Case& what, TaskRank task, std::vector<Extent>& places) {
  Random random = random_of(what.seed, 6);
  const std::uint64_t n = 1 + below(random, 20);
  const std::uint64_t bytes = 1 + below(random, 64) * what.scale;
  for (std::uint64_t i = 0; i < n; ++i)
    places.push_back(
        {nullptr, bytes, (i * static_cast<std::uint64_t>(what.tasks) + static_cast<std::uint64_t>(task)) * bytes + 11});
}

void anywhere(std::uint64_t n, std::uint64_t range, std::uint64_t most, Random& random, std::vector<Extent>& places) {
  for (std::uint64_t i = 0; i < n; ++i) places.push_back({nullptr, below(random, most), below(random, range)});
}

// The pieces of the tasks alternate, with a hole behind most of them.
void tiny(const Case& what, TaskRank task, std::vector<Extent>& places) {
  Random random = random_of(what.seed, 8);
  std::uint64_t offset = below(random, 5000);
  const std::uint64_t n = (20 + below(random, 60)) * static_cast<std::uint64_t>(std::min<TaskRank>(what.tasks, 16));
  for (std::uint64_t i = 0; i < n; ++i) {
    const std::uint64_t bytes = 1 + below(random, 64);
    const auto owner = static_cast<TaskRank>(below(random, static_cast<std::uint64_t>(what.tasks)));
    if (owner == task) places.push_back({nullptr, bytes, offset});
    offset += bytes + below(random, 3) * below(random, 40);
  }
}

// Lists of accesses placed by order, for which only lengths matter.
void lengths_only(const Case& what, TaskRank task, Random& random, std::vector<Extent>& places) {
  std::uint64_t left = block_bytes(what, task);
  while (left > 0) {
    const std::uint64_t now = std::min(left, below(random, 400) * what.scale + below(random, 2));
    places.push_back({nullptr, now, 0});
    left -= now;
    if (what.layout == Layout::blocks) break;  // one extent, shorter than the range
  }
}

std::uint64_t bytes_of_task(const Case& what, TaskRank task) {
  Case anywhere_else = what;
  anywhere_else.placement = Placement::at_offset;  // with equal lengths
  std::uint64_t sum = 0;
  for (const Extent& place : places_of(anywhere_else, task, 0)) sum += place.bytes;
  return sum;
}

void put_behind_each_other(std::vector<Extent>& places, std::uint64_t offset) {
  for (Extent& place : places) {
    place.offset = offset;
    offset += place.bytes;
  }
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Case& what) {
  return out << "case " << what.seed << ": layout " << static_cast<int>(what.layout) << ", placement "
             << static_cast<int>(what.placement) << (what.common ? ", common" : "")
             << (what.unsorted ? ", unsorted" : "") << (what.some_empty ? ", some empty" : "") << ", scale "
             << what.scale << ", tasks " << what.tasks;
}

Case draw_case(std::uint64_t seed, TaskRank tasks) {
  Random random = random_of(seed, 1);
  Case what;
  what.seed = seed;
  what.tasks = tasks;
  what.layout = static_cast<Layout>(below(random, kLayouts));
  const std::uint64_t placement = below(random, 6);
  what.placement = placement == 0 ? Placement::in_order : placement == 1 ? Placement::at_offset : Placement::at_extents;
  what.common = below(random, 6) == 0;
  what.unsorted = below(random, 3) == 0;
  what.apart_in_memory = below(random, 2) == 0;
  what.some_empty = below(random, 3) == 0;
  const std::uint64_t scales[] = {1, 1, 7, 64};
  what.scale = tasks > 16 ? 1 : scales[below(random, 4)];
  return what;
}

std::string draw_hints(std::uint64_t seed) {
  Random random = random_of(seed, 2);
  std::string hints;
  const char* const methods[] = {"", "method=direct,", "method=shared,", "method=naive,", "method=aggregate,"};
  hints += methods[below(random, 5)];
  if (below(random, 2) == 0) hints += "workers=" + std::to_string(1 + below(random, 5)) + ",";
  if (below(random, 2) == 0) hints += "staging_bytes=4096,";
  if (below(random, 4) == 0) hints += "sieve_writes=on,";
  if (below(random, 3) == 0) hints += "io=direct,";
  if (below(random, 2) == 0) hints += "transfer_bytes=64KiB,";
  if (below(random, 2) == 0) hints += "aggregators=" + std::to_string(1 + below(random, 4)) + ",";
  if (below(random, 2) == 0) hints += "aggregator_bytes=64KiB,";
  if (below(random, 2) == 0) hints += below(random, 4) == 0 ? "node_relay=off," : "node_relay=on,";
  if (below(random, 2) == 0) hints += "queue_depth=" + std::to_string(1 + below(random, 4)) + ",";
  return hints;
}

std::uint64_t offset_of(const Case& what, TaskRank task) {
  const TaskRank whose = what.common ? 0 : task;
  Random random = random_of(what.seed, 3000 + static_cast<std::uint64_t>(whose));
  return below(random, 20000);
}

std::uint64_t bytes_of_all(const Case& what) {
  std::uint64_t sum = 0;
  for (TaskRank task = 0; task < (what.common ? 1 : what.tasks); ++task) sum += bytes_of_task(what, task);
  return sum;
}

std::vector<Extent> places_of(const Case& what, TaskRank task, std::uint64_t base) {
  const TaskRank whose = what.common ? 0 : task;
  Random random = random_of(what.seed, 100 + static_cast<std::uint64_t>(whose));
  std::vector<Extent> places;
  if (what.placement != Placement::at_extents) {
    lengths_only(what, whose, random, places);
    if (what.placement == Placement::at_offset) base = offset_of(what, task);
    if (what.placement == Placement::in_order)
      for (TaskRank t = 0; t < whose; ++t) base += bytes_of_task(what, t);
    put_behind_each_other(places, base);
    return places;
  }
  if (is_empty(what, whose)) return places;
  const std::uint64_t range = 2000 * what.scale + 1;
  switch (what.layout) {
    case Layout::blocks:
    case Layout::skewed:
      blocks(what, whose, random, places);
      break;
    case Layout::strided:
      strided(what, whose, places);
      break;
    case Layout::interleaved:
      interleaved(what, whose, places);
      break;
    case Layout::sparse:
      anywhere(3, 200 * range, 100 * what.scale, random, places);
      break;
    case Layout::overlapping:
      anywhere(6, range, 500 * what.scale, random, places);
      break;
    case Layout::tiny:
      tiny(what, whose, places);
      break;
  }
  if (what.unsorted) std::shuffle(places.begin(), places.end(), random);
  return places;
}

Buffer::Buffer(const Case& what, TaskRank task, const std::vector<Extent>& places) : extents_(places) {
  Random random = random_of(what.seed, 4000 + static_cast<std::uint64_t>(task));
  std::vector<std::uint64_t> at;
  std::uint64_t end = 64;
  for (const Extent& place : places) {
    at.push_back(end);
    end += place.bytes + (what.apart_in_memory ? 1 + below(random, 9) : 0);
    bytes_ += place.bytes;
  }
  memory_.assign(end + 64, kGuard);
  for (std::size_t i = 0; i < places.size(); ++i) extents_[i].memory = memory_.data() + at[i];
}

std::byte Buffer::value(const Case& what, TaskRank task, std::uint64_t at) {
  return static_cast<std::byte>((at * 7 + static_cast<std::uint64_t>(task) * 131 + what.seed * 29 + (at >> 8)) % 251);
}

void Buffer::fill(const Case& what, TaskRank task) {
  std::uint64_t at = 0;
  for (const Extent& extent : extents_)
    for (std::uint64_t i = 0; i < extent.bytes; ++i) extent.memory[i] = value(what, task, at++);
}

bool Buffer::guards_are_whole() const {
  std::vector<bool> inside(memory_.size());
  for (const Extent& extent : extents_) {
    const auto begin = inside.begin() + (extent.memory - memory_.data());
    std::fill(begin, begin + static_cast<std::ptrdiff_t>(extent.bytes), true);
  }
  for (std::size_t i = 0; i < memory_.size(); ++i)
    if (!inside[i] && memory_[i] != kGuard) return false;
  return true;
}

}  // namespace thalweg::test
