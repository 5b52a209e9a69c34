// Encodes the plan of task 0: one message for all tasks, and for each task its own share.
#include <algorithm>
#include <tuple>
#include <type_traits>

#include "multifile/write_plan.hpp"

namespace thalweg {

namespace {

// All fields but the text, in the order of the message.
template <class Common>
auto fields_of(Common& common) {
  return std::tie(common.chunk_bytes, common.header, common.reserves, common.direct, common.stripes, common.first_bytes,
                  common.session, common.first_added, common.usual);
}

}  // namespace

void put_common(WireWriter& out, const WriteCommon& common) {
  std::apply([&](const auto&... field) { (out.put(field), ...); }, fields_of(common));
  out.put_text(common.strategy);
}

WriteCommon get_common(WireReader& in) {
  WriteCommon common;
  std::apply([&](auto&... field) { ((field = in.get<std::remove_reference_t<decltype(field)>>()), ...); },
             fields_of(common));
  common.strategy = in.get_text();
  return common;
}

namespace {

// The fields in which two domains of one multifile are mostly equal.
template <class Share, class F>
void for_each_field(Share& a, const DomainShare& b, F&& fn) {
  fn(a.session, b.session);
  fn(a.layout.data_start, b.layout.data_start);
  fn(a.layout.round_bytes, b.layout.round_bytes);
  fn(a.layout.domain_bytes, b.layout.domain_bytes);
  fn(a.layout.rounds_per_doubling, b.layout.rounds_per_doubling);
  fn(a.layout.most_doublings, b.layout.most_doublings);
}

// Encodes 0 and all numbers; or 1 and the distance of the domain from `expected_place`, in a row of domains that are
// like the usual one.
void put_domain(WireWriter& out, const DomainShare& domain, const DomainShare& usual, std::uint64_t expected_place) {
  const std::uint64_t prefix = domain.layout.domain_prefix, bytes = domain.layout.domain_bytes;
  bool in_row = prefix % bytes == 0;
  for_each_field(domain, usual, [&](auto value, auto expected) { in_row &= value == expected; });
  if (in_row) {
    const std::uint64_t place = prefix / bytes;
    out.put_short(place < expected_place ? 2 * (expected_place - place) : 2 * (place - expected_place) + 1);
    return;
  }
  out.put_short(0);
  for_each_field(domain, usual, [&](auto value, auto expected) { out.put_near(value, expected); });
  out.put_short(prefix);
}

DomainShare get_domain(WireReader& in, const DomainShare& usual, std::uint64_t expected_place) {
  DomainShare domain = usual;
  if (const std::uint64_t distance = in.get_short(); distance > 0) {
    const std::uint64_t place = distance % 2 == 0 ? expected_place - distance / 2 : expected_place + distance / 2;
    domain.layout.domain_prefix = place * usual.layout.domain_bytes;
    return domain;
  }
  for_each_field(domain, usual, [&](auto& value, auto expected) {
    value = static_cast<std::decay_t<decltype(value)>>(in.get_near(expected));
  });
  domain.layout.domain_prefix = in.get_short();
  return domain;
}

// The later physical file, and the number of the domain in it.
void put_later(WireWriter& out, const WritePlan& plan, std::size_t task, std::size_t tasks, std::int64_t process,
               std::uint32_t later) {
  const format::FileHeader& header = plan.files[0].header;
  if (header.n_later == 0) return;
  out.put_near(later, even_share(task, tasks, header.n_later + std::uint64_t{1}));
  if (later == 0) return;
  const format::SlabLayout layout = domain_share(plan, later, process)->layout;
  out.put_short(layout.domain_prefix / layout.domain_bytes);
}

std::optional<DomainShare> get_later(WireReader& in, const WriteCommon& common, std::size_t task, std::size_t tasks) {
  if (common.header.n_later == 0) return std::nullopt;
  const std::uint64_t later = in.get_near(even_share(task, tasks, common.header.n_later + std::uint64_t{1}));
  if (later == 0) return std::nullopt;
  return DomainShare{static_cast<std::uint32_t>(later), common.session.session,
                     common.session.later_layout(in.get_short())};
}

// The physical files and domains, then the placed ranges, without the numbers that are in the task's request.
void put_share(WireWriter& out, const WritePlan& plan, std::size_t task, std::size_t tasks, const WriteRequest& request,
               std::uint32_t later) {
  std::vector<PlacedRange> placed;
  std::vector<std::uint32_t> physical;
  for (const RankRange& range : request.ranges)
    plan.ranks.for_each_placed(range, [&](const PlacedRange& p) {
      placed.push_back(p);
      physical.push_back(p.physical);
    });
  const std::uint32_t home = home_of(plan, request, task, tasks);
  physical.push_back(home);
  std::ranges::sort(physical);
  physical.erase(std::ranges::unique(physical).begin(), physical.end());
  const bool one = plan.files.size() == 1;  // that one, in which the tasks and their ranks follow each other
  if (!one) out.put_short(physical.size());
  std::uint64_t expected = even_share(task, tasks, plan.files.size());
  for (const std::uint32_t k : physical) {
    if (!one) out.put_near(k, expected);
    expected = k;
    put_domain(out, *domain_share(plan, k, request.process), plan.common.usual, one ? task : 0);
  }
  const auto number_of = [&physical](std::uint32_t k) {
    return static_cast<std::uint64_t>(std::ranges::lower_bound(physical, k) - physical.begin());
  };
  out.put_short(number_of(home));
  put_later(out, plan, task, tasks, request.process, later);
  for (const PlacedRange& p : placed) {
    out.put_short(number_of(p.physical));
    out.put_short(p.count);
    out.put_near(p.local, one ? p.first : 0);
  }
}

}  // namespace

Gathered encode_shares(const WritePlan& plan, const WriteRequests& requests) {
  constexpr std::size_t kUsualShare = 8;
  Gathered shares;
  shares.begin.reserve(requests.tasks() + 1);
  shares.begin.push_back(0);
  WireWriter out;
  out.reserve(requests.tasks() * kUsualShare);
  for_each_later(plan, requests, [&](std::size_t task, const WriteRequest& request, std::uint32_t later) {
    put_share(out, plan, task, requests.tasks(), request, later);
    shares.begin.push_back(out.bytes().size());
  });
  shares.data = out.take();
  return shares;
}

WriteShare decode_share(ByteView bytes, const WriteCommon& common, std::span<const RankRange> ranges, std::size_t task,
                        std::size_t tasks) {
  WireReader in(bytes);
  WriteShare share;
  const bool one = common.header.n_physical == 1;
  share.domains.resize(one ? 1 : in.get_short());
  std::uint64_t expected = even_share(task, tasks, common.header.n_physical);
  for (DomainShare& domain : share.domains) {
    const std::uint64_t k = one ? 0 : in.get_near(expected);
    domain = get_domain(in, common.usual, one ? task : 0);
    domain.physical = static_cast<std::uint32_t>(expected = k);
  }
  share.first_added = common.first_added + task * format::kAddedPerTask;
  share.home = share.domains.at(in.get_short()).physical;
  share.later = get_later(in, common, task, tasks);
  for (const RankRange& range : ranges) {
    for (std::uint64_t done = 0; done < range.count; done += share.ranges.back().count) {
      const DomainShare& domain = share.domains.at(in.get_short());
      const std::uint64_t count = std::max<std::uint64_t>(in.get_short(), 1);
      const std::uint64_t first = range.first + done;
      share.ranges.push_back({first, count, in.get_near(one ? first : 0), domain.physical});
    }
  }
  return share;
}

}  // namespace thalweg
