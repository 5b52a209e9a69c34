// The plan as bytes: what travels to the tasks, and what stands at the front of each physical file.
#include <algorithm>

#include "base/endian.hpp"
#include "multifile/rank_ranges.hpp"
#include "multifile/write_plan.hpp"

namespace thalweg {

using format::Mapping;

Bytes encode(const WriteCommon& common) {
  WireWriter out;
  out.put(common.n_physical);
  out.put(common.n_logical);
  out.put(common.chunk_bytes);
  out.put(common.header);
  out.put_text(common.strategy);
  out.put(common.usual);
  return out.take();
}

WriteCommon decode_common(ByteView bytes) {
  WireReader in(bytes);
  WriteCommon common;
  common.n_physical = in.get<std::uint32_t>();
  common.n_logical = in.get<std::uint64_t>();
  common.chunk_bytes = in.get<std::uint64_t>();
  common.header = in.get<format::FileHeader>();
  common.strategy = in.get_text();
  common.usual = in.get<DomainShare>();
  return common;
}

std::optional<DomainShare> domain_share(const WritePlan& plan, std::uint32_t physical, std::int64_t process) {
  const auto found = std::partition_point(plan.domains.begin(), plan.domains.end(), [&](const WritePlan::Domains& d) {
    return d.physical != physical ? d.physical < physical : d.process + d.count <= process;
  });
  if (found == plan.domains.end() || found->physical != physical || found->process > process) return std::nullopt;
  const std::uint64_t prefix = found->prefix + static_cast<std::uint64_t>(process - found->process) * found->bytes;
  const format::SessionPage& session = plan.files[physical].session;
  return DomainShare{physical,
                     session.session,
                     {session.data_start, session.round_bytes, prefix, found->bytes, session.rounds_per_doubling,
                      session.most_doublings}};
}

namespace {

// Where in a row of domains that are all like `usual`; none when it is not like it.
std::optional<std::uint64_t> place_in_row(const DomainShare& domain, const DomainShare& usual) {
  const format::SlabLayout &a = domain.layout, &b = usual.layout;
  const bool alike = domain.session == usual.session && a.data_start == b.data_start &&
                     a.round_bytes == b.round_bytes && a.domain_bytes == b.domain_bytes &&
                     a.rounds_per_doubling == b.rounds_per_doubling && a.most_doublings == b.most_doublings &&
                     a.domain_prefix % b.domain_bytes == 0;
  if (!alike) return std::nullopt;
  return a.domain_prefix / b.domain_bytes;
}

// 0 and the numbers themselves, or one more than the place in the row.
void put_domain(WireWriter& out, const DomainShare& domain, const DomainShare& usual) {
  if (const auto place = place_in_row(domain, usual)) {
    out.put_short(*place + 1);
    return;
  }
  out.put_short(0);
  const format::SlabLayout &a = domain.layout, &b = usual.layout;
  out.put_near(domain.session, usual.session);
  out.put_near(a.data_start, b.data_start);
  out.put_near(a.round_bytes, b.round_bytes);
  out.put_short(a.domain_prefix);
  out.put_near(a.domain_bytes, b.domain_bytes);
  out.put_near(a.rounds_per_doubling, b.rounds_per_doubling);
  out.put_near(a.most_doublings, b.most_doublings);
}

DomainShare get_domain(WireReader& in, const DomainShare& usual) {
  DomainShare domain = usual;
  if (const std::uint64_t place = in.get_short(); place > 0) {
    domain.layout.domain_prefix = (place - 1) * usual.layout.domain_bytes;
    return domain;
  }
  format::SlabLayout& layout = domain.layout;
  domain.session = static_cast<std::uint32_t>(in.get_near(domain.session));
  layout.data_start = in.get_near(layout.data_start);
  layout.round_bytes = in.get_near(layout.round_bytes);
  layout.domain_prefix = in.get_short();
  layout.domain_bytes = in.get_near(layout.domain_bytes);
  layout.rounds_per_doubling = static_cast<std::uint32_t>(in.get_near(layout.rounds_per_doubling));
  layout.most_doublings = static_cast<std::uint32_t>(in.get_near(layout.most_doublings));
  return domain;
}

// The share of one task after the other; keeps the memory of the last one.
class ShareWriter {
 public:
  ShareWriter(const WritePlan& plan, std::size_t tasks) : plan_(plan), tasks_(tasks) {}

  // The physical files, then the ranges, each by what the ranges of the task do not tell.
  void put(WireWriter& out, const Requests::Asked& asked) {
    cut(asked.ranges);
    out.put_short(physical_.size());
    std::uint64_t expected = even_share(asked.task, tasks_, plan_.files.size());
    for (const std::uint32_t k : physical_) {
      out.put_near(k, expected);
      expected = k;
      put_domain(out, *domain_share(plan_, k, asked.process), plan_.common.usual);
    }
    for (const PlacedRange& s : ranges_) {
      const auto domain = std::lower_bound(physical_.begin(), physical_.end(), s.physical);
      out.put_short(static_cast<std::uint64_t>(domain - physical_.begin()));
      out.put_short(s.count);
      out.put_short(s.local);
    }
  }

 private:
  void cut(std::span<const RankRange> ranges) {
    ranges_.clear();
    physical_.clear();
    for (const RankRange& range : ranges)
      plan_.ranks.for_each_placed(range, [&](const PlacedRange& s) {
        ranges_.push_back(s);
        physical_.push_back(static_cast<std::uint32_t>(s.physical));
      });
    std::sort(physical_.begin(), physical_.end());
    physical_.erase(std::unique(physical_.begin(), physical_.end()), physical_.end());
  }

  const WritePlan& plan_;
  const std::size_t tasks_;
  std::vector<PlacedRange> ranges_;
  std::vector<std::uint32_t> physical_;
};

}  // namespace

Gathered encode_shares(const WritePlan& plan, const Requests& requests) {
  constexpr std::size_t kUsualShare = 8;
  Gathered shares;
  shares.begin.reserve(requests.tasks() + 1);
  shares.begin.push_back(0);
  ShareWriter writer(plan, requests.tasks());
  WireWriter out;
  out.reserve(requests.tasks() * kUsualShare);
  requests.for_each([&](const Requests::Asked& asked) {
    writer.put(out, asked);
    shares.begin.push_back(out.bytes().size());
  });
  shares.data = out.take();
  return shares;
}

WriteShare decode_share(ByteView bytes, const WriteCommon& common, std::span<const RankRange> ranges, std::size_t task,
                        std::size_t tasks) {
  WireReader in(bytes);
  WriteShare share;
  share.domains.resize(in.get_short());
  std::uint64_t expected = even_share(task, tasks, common.n_physical);
  for (DomainShare& domain : share.domains) {
    const std::uint64_t k = in.get_near(expected);
    domain = get_domain(in, common.usual);
    domain.physical = static_cast<std::uint32_t>(expected = k);
  }
  for (const RankRange& range : ranges) {
    for (std::uint64_t done = 0; done < range.count; done += share.ranges.back().count) {
      const DomainShare& domain = share.domains.at(in.get_short());
      const std::uint64_t count = std::max<std::uint64_t>(in.get_short(), 1);
      share.ranges.push_back({range.first + done, count, in.get_short(), domain.physical});
    }
  }
  return share;
}

std::vector<std::byte> encode_session_front(const WritePlan& plan, const PlannedFile& file) {
  std::vector<std::byte> out = format::encode_session(file.session, file.header.id, file.session_offset);
  std::vector<std::byte> table(file.session.n_domains * 8);
  const std::uint32_t k = file.header.id.physical;
  auto row = std::partition_point(plan.domains.begin(), plan.domains.end(),
                                  [&](const WritePlan::Domains& d) { return d.physical < k; });
  for (std::size_t i = 0; i < file.session.n_domains; ++row)
    for (std::uint32_t n = 0; n < row->count; ++n, ++i) store_le(std::span(table).subspan(i * 8), row->bytes);
  format::append_section(out, format::SectionKind::domains, table, 8, file.header.id, file.session.domains_offset);
  return out;
}

std::vector<std::byte> encode_front(const WritePlan& plan, const PlannedFile& file) {
  std::vector<std::byte> out(format::kFirstSection);
  const auto put = [&out](std::uint64_t at, std::span<const std::byte> bytes) {
    std::copy(bytes.begin(), bytes.end(), out.begin() + static_cast<std::ptrdiff_t>(at));
  };
  put(0, format::encode_header(file.header));
  put(format::state_offset(file.state), format::encode_state(file.state, file.header.id));
  const auto add = [&](format::SectionKind kind, const std::vector<std::uint64_t>& values) {
    std::vector<std::byte> bytes(values.size() * 8);
    for (std::size_t i = 0; i < values.size(); ++i) store_le(std::span(bytes).subspan(i * 8), values[i]);
    format::append_section(out, kind, bytes, 8, file.header.id, out.size());
  };
  if (file.header.id.physical == 0)
    add(plan.ranks.kind == Mapping::table ? format::SectionKind::table : format::SectionKind::bounds,
        plan.ranks.kind == Mapping::table ? plan.ranks.table : plan.ranks.bounds);
  if (!file.ranks.empty()) add(format::SectionKind::ranks, file.ranks);
  const std::vector<std::byte> session = encode_session_front(plan, file);
  out.insert(out.end(), session.begin(), session.end());
  return out;
}

}  // namespace thalweg
