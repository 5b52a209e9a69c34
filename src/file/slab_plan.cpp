#include "file/slab_plan.hpp"

#include <algorithm>
#include <bit>

#include "file/physical_writer.hpp"
#include "file/stretches.hpp"

namespace thalweg {

namespace {

using format::align_up;

constexpr std::uint64_t kKi = 1024, kMi = kKi * kKi, kGi = kMi * kKi;
constexpr std::uint64_t kUsualSlab = 256 * kMi;   // at most, unless one chunk is larger
constexpr std::uint64_t kSmallestSlab = 4 * kMi;  // holes cost nothing; less when there are very many processes
constexpr std::uint64_t kRoundBytes = 256 * kGi;  // what all slabs of one round may take when sizes are ours to choose
constexpr std::uint32_t kRoundsPerDoubling = 8;
constexpr std::uint64_t kLargestSlab = 4 * kGi;

struct Demand {
  std::uint32_t physical = 0;
  std::int64_t process = 0;
  std::uint64_t bytes = 0;    // for the first chunks of all its logical files
  std::uint64_t largest = 0;  // chunk
};

std::vector<Demand> demands(const PlanInput& input, const WritePlan& plan) {
  std::vector<Demand> result;
  for (std::size_t task = 0; task < input.requests.tasks(); ++task) {
    const std::uint64_t wish = input.requests.chunk_bytes(task);
    const std::uint64_t extent =
        PhysicalWriter::extent_for(wish == kAuto ? plan.common.chunk_bytes : wish, plan.parts[0].header);
    for (const RankRun& run : input.requests.runs(task))
      for_each_stretch(plan, run, [&](const Stretch& s) {
        constexpr std::uint64_t kCounted = 64;  // of many logical files few are large
        result.push_back({static_cast<std::uint32_t>(s.physical), input.requests.process(task),
                          extent * std::min(s.count, kCounted), extent});
      });
  }
  const auto before = [](const Demand& a, const Demand& b) {
    return a.physical != b.physical ? a.physical < b.physical : a.process < b.process;
  };
  if (!std::is_sorted(result.begin(), result.end(), before)) std::sort(result.begin(), result.end(), before);
  std::size_t kept = 0;
  for (const Demand& d : result) {
    if (kept > 0 && result[kept - 1].physical == d.physical && result[kept - 1].process == d.process) {
      result[kept - 1].bytes = std::min(result[kept - 1].bytes + d.bytes, format::kMaxOffset);
      result[kept - 1].largest = std::max(result[kept - 1].largest, d.largest);
    } else {
      result[kept++] = d;
    }
  }
  result.resize(kept);
  return result;
}

std::uint64_t slab_bytes(const Demand& d, std::uint64_t processes, std::uint32_t alignment) {
  const std::uint64_t smallest = std::clamp(kRoundBytes / processes, std::uint64_t{64 * kKi}, kSmallestSlab);
  const std::uint64_t wanted = std::max(std::min(d.bytes, kUsualSlab), d.largest);
  return align_up(std::max({wanted, smallest, std::uint64_t{4} * alignment}), alignment);
}

std::uint32_t most_doublings(std::uint64_t largest_slab, std::uint64_t round_bytes) {
  const std::uint64_t by_slab = std::max<std::uint64_t>(kLargestSlab / largest_slab, 1);
  const std::uint64_t by_round = std::max<std::uint64_t>(64 * kRoundBytes / round_bytes, 1);
  return static_cast<std::uint32_t>(std::bit_width(std::min(by_slab, by_round)) - 1);
}

// The demands on one part, by process. That of task 0 packs the small leftovers of the others, so it is among them
// wherever there are several; and a session has at least one domain.
std::vector<Demand> demands_on(std::span<const Demand> part, std::uint32_t k, std::int64_t root) {
  std::vector<Demand> result(part.begin(), part.end());
  const auto place = std::lower_bound(result.begin(), result.end(), root,
                                      [](const Demand& d, std::int64_t process) { return d.process < process; });
  const bool root_is_there = place != result.end() && place->process == root;
  if (!root_is_there && result.size() != 1) result.insert(place, {k, root, 0, 0});
  return result;
}

}  // namespace

Status place_domains(const PlanInput& input, WritePlan& plan) {
  const std::vector<Demand> wanted = demands(input, plan);
  std::span<const Demand> rest = wanted;
  for (std::uint32_t k = 0; k < plan.parts.size(); ++k) {
    PlannedPart& part = plan.parts[k];
    std::size_t here = 0;
    while (here < rest.size() && rest[here].physical == k) ++here;
    const std::vector<Demand> list = demands_on(rest.first(here), k, input.requests.process(0));
    rest = rest.subspan(here);
    std::uint64_t prefix = 0, largest = 0;
    for (const Demand& d : list) {
      const std::uint64_t bytes = slab_bytes(d, list.size(), part.header.alignment);
      plan.domains.push_back({k, d.process, prefix, bytes});
      part.domain_bytes.push_back(bytes);
      largest = std::max(largest, bytes);
      if (prefix > format::kMaxOffset / 4) break;
      prefix += bytes;  // at most tasks * 1 TiB and a little: no overflow below 2^22 tasks of the largest hint
    }
    if (prefix > format::kMaxOffset / 4)
      return Status::error(Code::out_of_range,
                           "the chunks of all tasks together exceed the largest file: lower chunk_bytes "
                           "or raise physical_files");
    part.session.n_domains = part.domain_bytes.size();
    part.session.round_bytes = prefix;
    part.session.rounds_per_doubling = kRoundsPerDoubling;
    part.session.most_doublings = most_doublings(largest, prefix);
  }
  return {};
}

}  // namespace thalweg
