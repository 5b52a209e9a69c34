#include "file/write_plan.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <random>

#include "base/endian.hpp"
#include "file/physical_writer.hpp"

namespace thalweg {

namespace {

using format::align_up;
using format::kPageBytes;
using format::Mapping;

constexpr std::uint64_t kKi = 1024, kMi = kKi * kKi, kGi = kMi * kKi;
constexpr std::uint64_t kUsualChunk = 8 * kMi;
constexpr std::uint64_t kUsualSlab = 256 * kMi;   // at most, unless one chunk is larger
constexpr std::uint64_t kSmallestSlab = 4 * kMi;  // holes cost nothing; less when there are very many processes
constexpr std::uint64_t kRoundBytes = 256 * kGi;  // what all slabs of one round may take when sizes are ours to choose
constexpr std::uint32_t kRoundsPerDoubling = 8;
constexpr std::uint64_t kLargestSlab = 4 * kGi;
constexpr std::uint32_t kWritersPerCore = 2;

// ---- How many physical files -------------------------------------------------------------------------------------

struct Count {
  std::uint32_t n = 1;
  std::string why;
};

// Linux serialises buffered writers of one inode, so as many files as tasks that write at once (measured:
// docs/design/multifile.md).
Count physical_count(const PlanInput& input) {
  const Requests& all = input.requests;
  const auto nodes = static_cast<std::uint64_t>(all.nodes());
  const std::string where = std::to_string(nodes) + (nodes == 1 ? " node" : " nodes");
  if (input.options.physical_files == kOnePerNode) return {static_cast<std::uint32_t>(nodes), "one per node, " + where};
  if (input.options.physical_files != kAuto) return {input.options.physical_files, "as asked for"};
  const std::uint64_t at_once = std::min<std::uint64_t>(all.tasks_on_fullest_node(), kWritersPerCore * input.cores);
  const std::uint64_t n = std::clamp<std::uint64_t>(std::min(at_once * nodes, all.n_logical()), 1, 65536);
  if (n == 1) return {1, "one writer"};
  return {static_cast<std::uint32_t>(n), std::to_string(at_once) + " tasks write at once on " + where +
                                             (nodes > 1 ? " each" : "") +
                                             ": Linux lets one buffered writer at a time into a file"};
}

// ---- Which ranks in which physical file --------------------------------------------------------------------------

// Borders between tasks where tasks serve ascending ranks, so that no task has to write into two files.
std::vector<std::uint64_t> choose_bounds(const Requests& all, std::uint32_t n_physical) {
  std::vector<std::uint64_t> starts;  // of tasks that serve something
  bool ascending = true;
  for (std::size_t task = 0; task < all.tasks(); ++task) {
    const auto runs = all.runs(task);
    if (runs.empty() || runs[0].count == 0) continue;
    ascending &= runs.size() == 1 && (starts.empty() || runs[0].first > starts.back());
    starts.push_back(runs[0].first);
  }
  std::vector<std::uint64_t> bounds(std::size_t{n_physical} + 1);
  const bool by_task = ascending && starts.size() >= n_physical;
  for (std::uint64_t k = 1; k < n_physical; ++k)
    bounds[k] = by_task ? starts[k * starts.size() / n_physical] : even_share(k, n_physical, all.n_logical());
  bounds[n_physical] = all.n_logical();
  return bounds;
}

Status fill_table(const PlanInput& input, WritePlan& plan) {
  const std::uint64_t n = input.requests.n_logical();
  plan.table.resize(n);
  for (std::uint64_t rank = 0; rank < n; ++rank) {
    const std::int32_t k = input.mapping(static_cast<std::int64_t>(rank), static_cast<std::int64_t>(n),
                                         static_cast<std::int32_t>(plan.parts.size()));
    if (k < 0 || static_cast<std::size_t>(k) >= plan.parts.size())
      return Status::error(Code::invalid_argument, "the mapping puts logical file " + std::to_string(rank) +
                                                       " into physical file " + std::to_string(k) + " of " +
                                                       std::to_string(plan.parts.size()));
    plan.table[rank] = plan.parts[k].ranks.size() << 32 | static_cast<std::uint32_t>(k);
    plan.parts[k].ranks.push_back(rank);
  }
  return {};
}

// Calls fn(stretch) for the run, cut where the physical file or the order of places changes.
template <class F>
void for_each_stretch(const WritePlan& plan, const RankRun& run, F&& fn) {
  std::uint64_t rank = run.first;
  const std::uint64_t end = run.first + run.count;
  while (rank < end) {
    Stretch stretch{rank, 1, 0, 0};
    if (plan.mapping == Mapping::consecutive) {
      const auto above = std::upper_bound(plan.bounds.begin(), plan.bounds.end(), rank);
      stretch.physical = static_cast<std::uint64_t>(above - plan.bounds.begin() - 1);
      stretch.count = std::min(end, *above) - rank;
      stretch.local = rank - plan.bounds[stretch.physical];
    } else {
      const std::uint64_t entry = plan.table[rank];
      while (rank + stretch.count < end && plan.table[rank + stretch.count] == entry + (stretch.count << 32))
        ++stretch.count;
      stretch.physical = entry & 0xFFFFFFFF;
      stretch.local = entry >> 32;
    }
    fn(stretch);
    rank += stretch.count;
  }
}

// ---- Slabs -------------------------------------------------------------------------------------------------------

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

// Domain section and data start, once the session page has its place.
void place_session(PlannedPart& part, std::uint64_t offset) {
  part.session_offset = offset;
  part.session.domains_offset = offset + kPageBytes;
  const std::uint64_t pages = format::section_pages(part.session.n_domains, 8);
  part.session.data_start = align_up(part.session.domains_offset + pages * kPageBytes, part.header.alignment);
  part.state.session_offset = offset;
  part.state.end = offset;
}

std::string describe(const WritePlan& plan, const Count& count, const PlanInput& input) {
  const format::FileHeader& h = plan.parts[0].header;
  const char* codecs[] = {"none", "lz4", "zstd"};
  return std::to_string(count.n) + (count.n == 1 ? " physical file (" : " physical files (") + count.why +
         "); buffered writes; alignment " + std::to_string(h.alignment) + " bytes (" +
         (input.options.alignment_bytes == kAuto ? "block of " + input.storage.kind : "as asked for") +
         "); chunks of " + std::to_string(plan.common.chunk_bytes) + " bytes; checksum " +
         (h.checksum == format::Checksum::crc32c ? "crc32c" : "none") + "; compression " +
         codecs[static_cast<int>(input.options.codec)];
}

std::uint64_t usual_chunk(const PlanInput& input) {
  return std::clamp(64 * kGi / std::max<std::uint64_t>(input.requests.tasks(), 1), std::uint64_t{64 * kKi},
                    kUsualChunk);
}

format::FileIdentity new_identity() {
  format::FileIdentity id;
  std::random_device random;
  for (std::size_t i = 0; i < id.uuid.size(); i += 4)
    store_le(std::as_writable_bytes(std::span(id.uuid)).subspan(i), std::uint32_t{random()});
  id.uuid[6] = static_cast<std::uint8_t>((id.uuid[6] & 0x0F) | 0x40);  // RFC 9562, version 4
  id.uuid[8] = static_cast<std::uint8_t>((id.uuid[8] & 0x3F) | 0x80);
  return id;
}

format::FileHeader new_header(const PlanInput& input, std::uint32_t n_physical) {
  format::FileHeader header;
  header.id = new_identity();
  header.n_logical = input.requests.n_logical();
  header.n_physical = n_physical;
  header.mapping = input.mapping ? Mapping::table : Mapping::consecutive;
  header.checksum = input.options.checksum;
  header.granule = input.options.granule_bytes;
  const std::uint32_t block =
      input.options.alignment_bytes == kAuto ? input.storage.block_bytes : input.options.alignment_bytes;
  header.alignment = std::clamp<std::uint32_t>(std::bit_ceil(block), 512, 64 * kMi);
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  header.created_seconds = static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(now).count());
  return header;
}

// Offsets of the sections in front of the session page.
void place_sections(WritePlan& plan) {
  for (PlannedPart& part : plan.parts) {
    std::uint64_t at = format::kFirstSection;
    if (part.header.id.physical == 0) {
      part.header.map_offset = at;
      const std::uint64_t entries = plan.mapping == Mapping::table ? plan.table.size() : plan.bounds.size();
      at += format::section_pages(entries, 8) * kPageBytes;
    }
    if (!part.ranks.empty()) {
      part.header.ranks_offset = at;
      at += format::section_pages(part.ranks.size(), 8) * kPageBytes;
    }
    part.header.session_offset = at;
    place_session(part, at);
  }
}

}  // namespace

Result<WritePlan> plan_create(const PlanInput& input) {
  const Count count = physical_count(input);
  if (input.mapping && (input.options.physical_files == kAuto || input.options.physical_files == kOnePerNode))
    return Status::error(Code::invalid_argument, "a mapping needs the hint physical_files as a number");
  WritePlan plan;
  plan.parts.resize(count.n);
  const format::FileHeader header = new_header(input, count.n);
  plan.mapping = header.mapping;
  if (plan.mapping == Mapping::table) {
    TW_RETURN_IF_ERROR(fill_table(input, plan));
  } else {
    plan.bounds = choose_bounds(input.requests, count.n);
  }
  for (std::uint32_t k = 0; k < count.n; ++k) {
    PlannedPart& part = plan.parts[k];
    part.header = header;
    part.header.id.physical = k;
    part.header.first_rank = plan.mapping == Mapping::table ? 0 : plan.bounds[k];
    part.header.n_local = plan.mapping == Mapping::table ? part.ranks.size() : plan.bounds[k + 1] - plan.bounds[k];
  }
  plan.common = {count.n, header.n_logical, usual_chunk(input), plan.parts[0].header, ""};
  plan.common.strategy = describe(plan, count, input);
  TW_RETURN_IF_ERROR(place_domains(input, plan));
  place_sections(plan);
  plan.common.header = plan.parts[0].header;
  return plan;
}

namespace {

// Session and state slot get the next numbers.
Status check_room_for_session(const Part& part) {
  if (part.state().session < format::kMostSession && part.state().sequence < format::kMaxOffset) return {};
  return Status::error(Code::out_of_range, "'" + part.file().path() +
                                               "' has had as many sessions as the format can count; "
                                               "`thalweg defrag` makes a copy that can be appended to");
}

// Where each logical file lives, told by the parts; it must be what the table tells.
Status invert_ranks(ReadSet& old, WritePlan& plan) {
  plan.table.resize(old.header().n_logical);
  PageCache cache;
  std::uint64_t n = 0;
  for (std::uint32_t k = 0; k < plan.parts.size(); ++k) {
    const std::vector<std::uint64_t>& ranks = plan.parts[k].ranks;
    for (std::uint64_t i = 0; i < ranks.size(); ++i, ++n) {
      TW_ASSIGN_OR_RETURN(const Location told, old.locate(ranks[i], cache));
      if (told.physical != k || told.local_index != i)
        return Status::error(Code::corrupt_file, "'" + old.path() + "': physical file " + std::to_string(k) +
                                                     " holds logical file " + std::to_string(ranks[i]) +
                                                     ", which the table tells elsewhere");
      plan.table[ranks[i]] = i << 32 | k;
    }
  }
  if (n == plan.table.size()) return {};
  return Status::error(Code::corrupt_file, "'" + old.path() + "': its physical files hold " + std::to_string(n) +
                                               " of " + std::to_string(plan.table.size()) + " logical files");
}

}  // namespace

Result<WritePlan> plan_append(const PlanInput& input, ReadSet& old) {
  WritePlan plan;
  const format::FileHeader& first = old.header();
  plan.mapping = first.mapping;
  plan.bounds = old.bounds();
  for (std::uint32_t k = 0; k < first.n_physical; ++k) {  // no memory for more parts than there are
    TW_ASSIGN_OR_RETURN(const Part* part, old.part(k));
    TW_RETURN_IF_ERROR(check_room_for_session(*part));
    plan.parts.emplace_back();
    plan.parts[k].header = part->header();
    TW_ASSIGN_OR_RETURN(plan.parts[k].ranks, old.ranks(*part));
  }
  if (plan.mapping == Mapping::table) TW_RETURN_IF_ERROR(invert_ranks(old, plan));
  const Count count{first.n_physical, "as it was created"};
  plan.common = {first.n_physical, first.n_logical, usual_chunk(input), plan.parts[0].header, ""};
  plan.common.strategy = describe(plan, count, input);
  TW_RETURN_IF_ERROR(place_domains(input, plan));
  for (std::uint32_t k = 0; k < first.n_physical; ++k) {
    TW_ASSIGN_OR_RETURN(const Part* part, old.part(k));
    PlannedPart& planned = plan.parts[k];
    planned.state = part->state();
    planned.state.sequence += 1;
    planned.state.state = format::FileState::open;
    planned.state.session += 1;
    planned.session.session = planned.state.session;
    planned.session.previous_offset = part->state().session_offset;
    place_session(planned, align_up(part->state().end, kPageBytes));
  }
  return plan;
}

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
