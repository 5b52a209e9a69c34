// The plan as bytes: what travels to the tasks, and what stands at the front of each physical file.
#include <algorithm>

#include "base/endian.hpp"
#include "file/stretches.hpp"
#include "file/write_plan.hpp"

namespace thalweg {

using format::Mapping;

Bytes encode(const WriteCommon& common) {
  WireWriter out;
  out.put(common.n_physical);
  out.put(common.n_logical);
  out.put(common.chunk_bytes);
  out.put(common.header);
  out.put_text(common.strategy);
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
  return common;
}

std::optional<DomainShare> domain_share(const WritePlan& plan, std::uint32_t physical, std::int64_t process) {
  const auto before = [](const WritePlan::Domain& d, const std::pair<std::uint32_t, std::int64_t>& key) {
    return std::pair(d.physical, d.process) < key;
  };
  const auto found = std::lower_bound(plan.domains.begin(), plan.domains.end(), std::pair(physical, process), before);
  if (found == plan.domains.end() || found->physical != physical || found->process != process) return std::nullopt;
  const format::SessionPage& session = plan.parts[physical].session;
  return DomainShare{physical,
                     session.session,
                     {session.data_start, session.round_bytes, found->prefix, found->bytes, session.rounds_per_doubling,
                      session.most_doublings}};
}

Bytes encode_share(const WritePlan& plan, const Requests& requests, std::size_t task) {
  std::vector<Stretch> stretches;
  std::vector<std::uint32_t> physical;
  for (const RankRun& run : requests.runs(task))
    for_each_stretch(plan, run, [&](const Stretch& s) {
      stretches.push_back(s);
      physical.push_back(static_cast<std::uint32_t>(s.physical));
    });
  std::sort(physical.begin(), physical.end());
  physical.erase(std::unique(physical.begin(), physical.end()), physical.end());
  std::vector<DomainShare> domains;
  domains.reserve(physical.size());
  for (const std::uint32_t k : physical) domains.push_back(*domain_share(plan, k, requests.process(task)));
  WireWriter out;
  out.put_all(domains);
  out.put_all(stretches);
  return out.take();
}

WriteShare decode_share(ByteView bytes) {
  WireReader in(bytes);
  WriteShare share;
  share.domains = in.get_all<DomainShare>();
  share.stretches = in.get_all<Stretch>();
  return share;
}

std::vector<std::byte> encode_session_front(const PlannedPart& part) {
  std::vector<std::byte> out = format::encode_session(part.session, part.header.id, part.session_offset);
  std::vector<std::byte> table(part.domain_bytes.size() * 8);
  for (std::size_t i = 0; i < part.domain_bytes.size(); ++i)
    store_le(std::span(table).subspan(i * 8), part.domain_bytes[i]);
  format::append_section(out, format::SectionKind::domains, table, 8, part.header.id, part.session.domains_offset);
  return out;
}

std::vector<std::byte> encode_front(const WritePlan& plan, const PlannedPart& part) {
  std::vector<std::byte> out(format::kFirstSection);
  const auto put = [&out](std::uint64_t at, std::span<const std::byte> bytes) {
    std::copy(bytes.begin(), bytes.end(), out.begin() + static_cast<std::ptrdiff_t>(at));
  };
  put(0, format::encode_header(part.header));
  put(format::state_offset(part.state), format::encode_state(part.state, part.header.id));
  const auto add = [&](format::SectionKind kind, const std::vector<std::uint64_t>& values) {
    std::vector<std::byte> bytes(values.size() * 8);
    for (std::size_t i = 0; i < values.size(); ++i) store_le(std::span(bytes).subspan(i * 8), values[i]);
    format::append_section(out, kind, bytes, 8, part.header.id, out.size());
  };
  if (part.header.id.physical == 0)
    add(plan.mapping == Mapping::table ? format::SectionKind::table : format::SectionKind::bounds,
        plan.mapping == Mapping::table ? plan.table : plan.bounds);
  if (!part.ranks.empty()) add(format::SectionKind::ranks, part.ranks);
  const std::vector<std::byte> session = encode_session_front(part);
  out.insert(out.end(), session.begin(), session.end());
  return out;
}

}  // namespace thalweg
