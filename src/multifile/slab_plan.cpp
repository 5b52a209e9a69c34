// How large the slabs of each process are in each physical file.

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "base/checked_math.hpp"
#include "base/size_units.hpp"
#include "multifile/write/physical_writer.hpp"
#include "multifile/write_plan.hpp"

namespace thalweg {

namespace {

using format::align_up;

constexpr std::uint64_t kMostSlab = 256 * kMi;  // unless one chunk is larger
// A slab of this size, and of each double of it, holds a chunk of 512 KiB, 1 MiB, ... with its frame and the gap before
// its data. Less when there are very many processes.
constexpr std::uint64_t kSmallestSlab = 656 * kKi;
constexpr std::uint64_t kRoundBytes = 256 * kGi;  // most bytes of all slabs of one round when the library chooses sizes
constexpr std::uint32_t kRoundsPerDoubling = 1;
constexpr std::uint64_t kLargestSlab = 4 * kGi;

// Space that each of the processes `process`, process + 1, ... needs in one physical file. Nothing where no task asks
// for a size of its chunks: then slabs begin small and grow with the data, so that the apparent size of the file is
// about that of the data.
struct Demand {
  std::uint32_t physical = 0;
  std::uint32_t count = 1;
  std::int64_t process = 0;
  std::uint64_t bytes = 0;    // for the first chunks of all logical files of one process
  std::uint64_t largest = 0;  // chunk
};

bool before(const Demand& a, const Demand& b) {
  return a.physical != b.physical ? a.physical < b.physical : a.process < b.process;
}

// Joins the last demand with the row before it where it continues that row: with very many tasks only rows of equal
// demands fit into the memory of task 0.
void join_last(std::vector<Demand>& rows) {
  if (rows.size() < 2) return;
  const Demand& last = rows.back();
  Demand& row = rows[rows.size() - 2];
  const bool goes_on = row.physical == last.physical && row.process + row.count == last.process &&
                       row.bytes == last.bytes && row.largest == last.largest;
  if (!goes_on) return;
  ++row.count;
  rows.pop_back();
}

// Demands come by physical file and process. Those of one process are added up.
void add_demand(std::vector<Demand>& rows, const Demand& d) {
  if (!rows.empty() && rows.back().physical == d.physical && rows.back().process == d.process) {
    rows.back().bytes = std::min(rows.back().bytes + d.bytes, format::kMaxOffset);
    rows.back().largest = std::max(rows.back().largest, d.largest);
  } else {
    join_last(rows);
    rows.push_back(d);
  }
}

// Calls fn(demand) for each placed range of each task.
template <class F>
void for_each_demand(const WritePlanInput& input, const WritePlan& plan, F&& fn) {
  bool any_asked = false;
  input.requests.for_each([&](std::size_t, const WriteRequest& request) { any_asked |= request.chunk_bytes != kAuto; });
  input.requests.for_each([&](std::size_t task, const WriteRequest& request) {
    const std::uint64_t chunk = request.chunk_bytes == kAuto ? plan.common.chunk_bytes : request.chunk_bytes;
    const std::uint64_t extent = any_asked ? PhysicalWriter::extent_for(chunk, plan.files[0].header) : 0;
    if (request.ranges.empty())  // it may add logical files
      fn(Demand{home_of(plan, request, task, input.requests.tasks()), 1, request.process, extent, extent});
    for (const RankRange& range : request.ranges)
      plan.ranks.for_each_placed(range, [&](const PlacedRange& s) {
        constexpr std::uint64_t kCounted = 64;  // of many logical files few are large
        fn(Demand{s.physical, 1, request.process, extent * std::min(s.count, kCounted), extent});
      });
  });
}

// Calls fn(demand) for each task that uses a later physical file.
template <class F>
void for_each_later_demand(const WritePlanInput& input, const WritePlan& plan, F&& fn) {
  for_each_later(plan, input.requests, [&](std::size_t, const WriteRequest& request, std::uint32_t k) {
    const std::uint64_t extent =
        request.chunk_bytes == kAuto ? 0 : PhysicalWriter::extent_for(request.chunk_bytes, plan.files[0].header);
    if (k > 0) fn(Demand{k, 1, request.process, extent, extent});
  });
}

// Calls fn for what each(fn) calls it, by physical file, then process.
template <class Each, class F>
void in_order(Each&& each, F&& fn) {
  bool sorted = true;
  std::size_t n = 0;
  Demand last;
  each([&](const Demand& d) {
    sorted &= n++ == 0 || !before(d, last);
    last = d;
  });
  if (sorted) return each(fn);
  std::vector<Demand> all;
  all.reserve(n);
  each([&](const Demand& d) { all.push_back(d); });
  std::sort(all.begin(), all.end(), before);
  for (const Demand& d : all) fn(d);
}

// Whole stripes, so that no two processes write into one, unless very many processes would need a large file for it. Their
// number has no factor in common with that of the targets: so the first stripes of all slabs, which have all data where
// these are few, lie on all targets and not on every second or fourth one.
std::uint64_t whole_stripes(std::uint64_t bytes, std::uint64_t processes, const StripeLayout& stripes) {
  constexpr std::uint64_t kUntold = 30;  // where targets are not told: suits most numbers of them
  if (stripes.bytes == 0) return bytes;
  const std::uint64_t targets = stripes.count > 0 ? stripes.count : kUntold;
  std::uint64_t n = (bytes - 1) / stripes.bytes + 1;
  while (std::gcd(n, targets) != 1) ++n;
  return n * stripes.bytes <= std::max(2 * bytes, kRoundBytes / processes) ? n * stripes.bytes : bytes;
}

std::uint64_t slab_bytes(const Demand& d, std::uint64_t processes, const WritePlan& plan) {
  const std::uint32_t alignment = plan.files[0].header.alignment;
  const std::uint64_t smallest = std::clamp(kRoundBytes / processes, std::uint64_t{64 * kKi}, kSmallestSlab);
  const std::uint64_t wanted = std::max(std::min(d.bytes, kMostSlab), d.largest);
  const std::uint64_t bytes = align_up(std::max({wanted, smallest, std::uint64_t{4} * alignment}), alignment);
  return whole_stripes(bytes, processes, plan.stripes);
}

std::uint32_t most_doublings(std::uint64_t largest_slab, std::uint64_t round_bytes) {
  const std::uint64_t by_slab = std::max<std::uint64_t>(kLargestSlab / largest_slab, 1);
  const std::uint64_t by_round = std::max<std::uint64_t>(64 * kRoundBytes / round_bytes, 1);
  return static_cast<std::uint32_t>(std::bit_width(std::min(by_slab, by_round)) - 1);
}

std::uint64_t processes_of(const std::vector<Demand>& list) {
  std::uint64_t n = 0;
  for (const Demand& d : list) n += d.count;
  return n;
}

// The demands on one physical file, by process. That of task 0 packs the small leftovers of the others, so it is among
// them wherever there are several; and a session has at least one domain.
void add_root(std::vector<Demand>& list, std::uint32_t k, std::int64_t root) {
  const auto place =
      std::partition_point(list.begin(), list.end(), [&](const Demand& d) { return d.process + d.count <= root; });
  const bool root_is_there = place != list.end() && place->process <= root;
  if (!root_is_there && processes_of(list) != 1) list.insert(place, {k, 1, root, 0, 0});
}

Status too_large() {
  return Status::error(Code::out_of_range,
                       "the chunks of all tasks together exceed the largest file: lower chunk_bytes "
                       "or raise physical_files");
}

// Places the slabs of all of `list` in round 0 side by side.
Status place_in_physical(PlannedFile& file, std::vector<Demand> list, std::int64_t root, WritePlan& plan) {
  add_root(list, file.header.id.physical, root);
  const std::uint64_t processes = processes_of(list);
  std::uint64_t prefix = 0, largest = 0;
  for (const Demand& d : list) {
    const std::uint64_t bytes = slab_bytes(d, processes, plan);
    plan.domains.push_back({d.physical, d.count, d.process, prefix, bytes});
    std::uint64_t row = 0;
    if (mul_overflow<std::uint64_t>(bytes, d.count, &row) || row > format::kMaxOffset / 4 - prefix) return too_large();
    prefix += row;
    largest = std::max(largest, bytes);
  }
  file.session.n_domains = processes;
  file.session.round_bytes = prefix;
  file.session.rounds_per_doubling = kRoundsPerDoubling;
  file.session.most_doublings = most_doublings(largest, prefix);
  return {};
}

// All later physical files have as many domains as the one that most processes use, and all slabs are as large as the
// largest: so a session page describes them with few numbers. What is not used is a hole.
Status place_later(const WritePlanInput& input, WritePlan& plan) {
  if (plan.files[0].header.n_later == 0) return {};
  std::vector<Demand> rows;
  in_order([&](auto&& fn) { for_each_later_demand(input, plan, fn); }, [&](const Demand& d) { add_demand(rows, d); });
  join_last(rows);
  std::vector<std::uint64_t> processes(plan.files[0].header.n_later + 1);
  for (const Demand& d : rows) processes[d.physical] += d.count;
  format::SessionPage& session = plan.files[0].session;
  session.later_domains = std::max<std::uint64_t>(*std::ranges::max_element(processes), 1);
  session.later_bytes = slab_bytes({}, session.later_domains, plan);
  for (const Demand& d : rows)
    session.later_bytes = std::max(session.later_bytes, slab_bytes(d, session.later_domains, plan));
  std::uint64_t round = 0;
  if (mul_overflow(session.later_bytes, session.later_domains, &round) || round > format::kMaxOffset / 4)
    return too_large();
  session.later_doublings = most_doublings(session.later_bytes, round);
  std::uint64_t prefix = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i == 0 || rows[i].physical != rows[i - 1].physical) prefix = 0;
    plan.domains.push_back({rows[i].physical, rows[i].count, rows[i].process, prefix, session.later_bytes});
    prefix += rows[i].count * session.later_bytes;
  }
  return {};
}

}  // namespace

Status place_domains(const WritePlanInput& input, WritePlan& plan) {
  std::vector<Demand> rows;  // of physical file k
  Status status;
  std::size_t k = 0;
  const auto finish_until = [&](std::size_t end) {
    for (; k < end && status.ok(); ++k) {
      join_last(rows);
      status = place_in_physical(plan.files[k], std::exchange(rows, {}), input.requests.root_process(), plan);
    }
  };
  in_order([&](auto&& fn) { for_each_demand(input, plan, fn); },
           [&](const Demand& d) {
             finish_until(d.physical);
             add_demand(rows, d);
           });
  finish_until(plan.files.size());
  return status.ok() ? place_later(input, plan) : status;
}

}  // namespace thalweg
