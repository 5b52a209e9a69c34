#include "multifile/write_plan.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <chrono>

#include "base/size_units.hpp"
#include "multifile/read/added_runs.hpp"
#include "multifile/write/physical_writer.hpp"
#include "os/random_bytes.hpp"
#include "sharedfile/file_strategy.hpp"

namespace thalweg {

namespace {

using format::align_up;
using format::kPageBytes;
using format::Mapping;

constexpr std::uint64_t kUsualChunk = 8 * kMi;
constexpr std::uint64_t kFilesPerNode = 4;  // on local storage
constexpr std::uint64_t kMostFiles = 4096;

constexpr char kAsCreated[] = "as it was created";

// ---- How many physical files -------------------------------------------------------------------------------------

// The reasons are in docs/design/multifile.md. `why` explains the number: on a network so many files that each node could
// have a target of its own. Where it is the library's choice all but the
// first are made later.
std::uint32_t choose_n_physical(const WritePlanInput& input, const Strategy& strategy, const StripeLayout& stripes,
                                std::string& why) {
  const WriteRequests& all = input.requests;
  const auto nodes = static_cast<std::uint64_t>(all.nodes());
  const std::string where = fmt::format("{} node{}", nodes, nodes == 1 ? "" : "s");
  if (input.options.physical_files == kOnePerNode) {
    why = "one per node, " + where;
    return static_cast<std::uint32_t>(nodes);
  }
  if (input.options.physical_files != kAuto) {
    why = input.options.defragments ? "a defragmented copy" : "as asked for";
    return input.options.physical_files;
  }
  const std::uint64_t usual = input.storage.is_network ? 1 : kFilesPerNode;
  const std::uint64_t per_node = std::max<std::uint64_t>(usual, strategy.physical_files);
  const std::uint64_t targets = per_node == 1 ? std::max<std::uint64_t>(stripes.count, 1) : 1;
  const std::uint64_t n_logical = all.n_logical() == 0 ? all.tasks() : all.n_logical();  // none: each task adds some
  const std::uint64_t writers = std::min<std::uint64_t>(all.tasks(), n_logical);
  const std::uint64_t most = std::min((per_node * nodes - 1) / targets + 1, kMostFiles);
  if (writers <= 1)
    why = "one writer";
  else if (writers <= most)
    why = all.tasks() <= n_logical ? "one per task" : "one per logical file";
  else if (most == kMostFiles)
    why = fmt::format("at most {}", most);
  else if (targets > 1)
    why = fmt::format("each over {} targets, {}", targets, where);
  else
    why = fmt::format("{} per node {} {}, {}", per_node, per_node > usual ? "as `thalweg tune` measured on" : "on",
                      input.storage.kind, where);
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(writers, 1, most));
}

// ---- Which ranks in which physical file --------------------------------------------------------------------------

// Bounds lie between tasks where the tasks serve ascending ranks, so that no task has to write into two files.
std::vector<std::uint64_t> choose_bounds(const WriteRequests& all, std::uint32_t n_physical) {
  std::uint64_t serving = 0, last = 0;  // tasks that serve something; the first rank of the last of them
  bool ascending = true;
  const auto each_start = [&all](auto&& fn) {
    all.for_each([&](std::size_t, const WriteRequest& request) {
      if (!request.ranges.empty() && request.ranges[0].count > 0) fn(request.ranges);
    });
  };
  each_start([&](const std::vector<RankRange>& ranges) {
    ascending &= ranges.size() == 1 && (serving == 0 || ranges[0].first > last);
    last = ranges[0].first;
    ++serving;
  });
  std::vector<std::uint64_t> bounds(std::size_t{n_physical} + 1);
  bounds[n_physical] = all.n_logical();
  if (!ascending || serving < n_physical) {
    for (std::uint64_t k = 1; k < n_physical; ++k) bounds[k] = even_share(k, n_physical, all.n_logical());
    return bounds;
  }
  std::uint64_t k = 0, i = 0;
  each_start([&](const std::vector<RankRange>& ranges) {
    if (k < n_physical && i++ == k * serving / n_physical) bounds[k++] = ranges[0].first;
  });
  bounds[0] = 0;
  return bounds;
}

Status fill_table(const WritePlanInput& input, WritePlan& plan) {
  const std::uint64_t n = input.requests.n_logical();
  plan.ranks.table.resize(n);
  for (std::uint64_t rank = 0; rank < n; ++rank) {
    const std::int32_t k = input.mapping(static_cast<std::int64_t>(rank), static_cast<std::int64_t>(n),
                                         static_cast<std::int32_t>(plan.files.size()));
    if (k < 0 || static_cast<std::size_t>(k) >= plan.files.size())
      return Status::error(Code::invalid_argument, "the mapping puts logical file {} into physical file {} of {}", rank,
                           k, plan.files.size());
    plan.ranks.table[rank] = plan.files[k].ranks.size() << 32 | static_cast<std::uint32_t>(k);
    plan.files[k].ranks.push_back(rank);
  }
  return {};
}

// Slabs begin at multiples of this.
std::uint64_t slab_unit(const WritePlan& plan) {
  return std::max<std::uint64_t>(plan.stripes.bytes, plan.files[0].header.alignment);
}

// Places domain section and data behind a session page at `offset`.
void place_session(PlannedFile& file, std::uint64_t offset, std::uint64_t unit) {
  file.session.domains_offset = offset + kPageBytes;
  const std::uint64_t pages = format::section_pages(file.session.n_domains, 8);
  file.session.data_start = align_up(file.session.domains_offset + pages * kPageBytes, unit);
  file.state.session_offset = offset;
  file.state.end = offset;
}

// Content of the first chunk of a logical file.
std::string describe_chunks(const WritePlan& plan, const WritePlanInput& input) {
  if (input.options.codec != format::Codec::none) return "data stored in packs";
  if (input.options.defragments) return "a chunk for each logical file";
  std::uint64_t least = ~std::uint64_t{0}, most = 0;
  bool asked_for = false;
  input.requests.for_each([&](std::size_t, const WriteRequest& request) {
    const std::uint64_t want = request.chunk_bytes == kAuto ? plan.common.chunk_bytes : request.chunk_bytes;
    const std::uint64_t content = PhysicalWriter::content_for(want, plan.files[0].header.alignment);
    asked_for |= request.chunk_bytes != kAuto;
    least = std::min(least, content);
    most = std::max(most, content);
  });
  if (!asked_for) return "chunks that grow with the data";
  return "chunks of " + exact_size(least) + (most > least ? " to " + exact_size(most) : "") + " (as asked for)";
}

// Where writing into reserved blocks is faster than into new ones, measured in docs/design/multifile.md.
bool reserves(const WritePlanInput& input) { return input.storage.kind == "ext4"; }

// How the data of chunks are written, by the hints or the profile of the file system.
DirectSettings choose_writes(const WritePlanInput& input, const Strategy& chosen) {
  const bool cheaper = chosen.direct_costs.write_byte_ns < chosen.costs.write_byte_ns;
  DirectSettings direct;
  if (!chosen.direct_writes || (chosen.direct_where_cheaper && !cheaper)) return direct;
  direct.asked_for = !chosen.direct_where_cheaper;
  if (!fits_buffers(input.direct_alignment())) return direct;
  direct.transfer_bytes = align_up(chosen.transfer_bytes, 64 * kKi);
  direct.depth = chosen.queue_depth;
  return direct;
}

std::string describe_writes(const WritePlan& plan, const WritePlanInput& input) {
  const DirectSettings& direct = plan.common.direct;
  if (direct.transfer_bytes > 0)
    return fmt::format("direct writes of {}, {} in flight ({})", exact_size(direct.transfer_bytes), direct.depth,
                       direct.asked_for ? "as asked for" : "measured by `thalweg tune`");
  const std::uint32_t needed = direct.asked_for ? input.direct_alignment() : 1;
  if (needed == 0) return fmt::format("buffered writes ({} has no direct I/O)", input.storage.kind);
  if (direct.asked_for) return fmt::format("buffered writes (direct I/O needs an alignment of {})", exact_size(needed));
  return plan.common.reserves ? "buffered writes into reserved blocks (ext4)" : "buffered writes";
}

std::string describe_files(const format::FileHeader& header, const std::string& why) {
  if (header.n_later > 0)
    return fmt::format("up to {} physical files ({}), the first one for {} of each node", header.n_later + 1, why,
                       exact_size(MultifileOptions{}.first_bytes));
  return fmt::format("{} physical file{} ({})", header.n_physical, header.n_physical == 1 ? "" : "s", why);
}

// The choices in force, with the reasons for the number of files and for the alignment.
std::string describe(const WritePlan& plan, const WritePlanInput& input, const std::string& why_files,
                     const std::string& why_alignment) {
  const char* codecs[] = {"none", "lz4", "zstd"};
  const format::FileHeader& header = plan.files[0].header;
  return fmt::format("{}; {}; alignment {} ({}); {}; checksum {}; compression {}", describe_files(header, why_files),
                     describe_writes(plan, input), exact_size(header.alignment), why_alignment,
                     describe_chunks(plan, input), header.checksum == format::Checksum::crc32c ? "crc32c" : "none",
                     codecs[static_cast<int>(input.options.codec)]);
}

std::uint64_t usual_chunk(const WritePlanInput& input) {
  return std::clamp(64 * kGi / std::max<std::uint64_t>(input.requests.tasks(), 1), std::uint64_t{64 * kKi},
                    kUsualChunk);
}

format::FileIdentity new_identity() {
  format::FileIdentity id;
  fill_with_random(std::as_writable_bytes(std::span(id.uuid)));
  id.uuid[6] = static_cast<std::uint8_t>((id.uuid[6] & 0x0F) | 0x40);  // RFC 9562, version 4
  id.uuid[8] = static_cast<std::uint8_t>((id.uuid[8] & 0x3F) | 0x80);
  return id;
}

// Slabs are not placed by stripes where chunks have a larger alignment, or the gap in front of the slabs would be larger
// than the format allows.
StripeLayout usable(StripeLayout stripes, std::uint64_t alignment) {
  if (stripes.bytes % alignment != 0 || stripes.bytes > 64 * kMi) stripes.bytes = 0;
  return stripes;
}

format::FileHeader new_header(const WritePlanInput& input, const StripeLayout& stripes, std::uint32_t n_physical) {
  format::FileHeader header;
  header.id = new_identity();
  header.n_logical = input.requests.n_logical();
  const bool later = input.options.physical_files == kAuto;
  header.n_physical = later ? 1 : n_physical;
  header.n_later = n_physical - header.n_physical;
  header.mapping = input.mapping ? Mapping::table : Mapping::consecutive;
  header.checksum = input.options.checksum;
  header.granule = input.options.granule_bytes;
  const std::uint32_t usual = stripes.bytes > 0 ? std::uint32_t{kPageBytes} : input.storage.block_bytes;
  const std::uint32_t block = input.options.alignment_bytes == kAuto ? usual : input.options.alignment_bytes;
  // Where nodes write back whole pages, no page has the bytes of two.
  const bool pages = input.requests.nodes() > 1 && !input.storage.is_coherent;
  header.alignment = std::clamp<std::uint32_t>(std::bit_ceil(block), pages ? cache_page_bytes() : 512, 64 * kMi);
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  header.created_seconds = static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(now).count());
  if (input.options.in_tier()) {
    header.id.uuid = input.options.uuid;
    header.created_seconds = input.options.created_seconds;
  }
  return header;
}

// Offsets of the sections in front of the session page.
void place_sections(WritePlan& plan) {
  for (PlannedFile& file : plan.files) {
    std::uint64_t at = format::kFirstSection;
    if (file.header.id.physical == 0) {
      file.header.map_offset = at;
      const std::uint64_t entries =
          plan.ranks.kind == Mapping::table ? plan.ranks.table.size() : plan.ranks.bounds.size();
      at += format::section_pages(entries, 8) * kPageBytes;
    }
    if (!file.ranks.empty()) {
      file.header.ranks_offset = at;
      at += format::section_pages(file.ranks.size(), 8) * kPageBytes;
    }
    file.header.session_offset = at;
    place_session(file, at, slab_unit(plan));
  }
}

// The first domain of the last physical file, which has no map in front as physical file 0 has.
DomainShare usual_domain(const WritePlan& plan) {
  const auto last = static_cast<std::uint32_t>(plan.files.size() - 1);
  const auto first = std::partition_point(plan.domains.begin(), plan.domains.end(),
                                          [&](const WritePlan::DomainRow& d) { return d.physical < last; });
  return *domain_share(plan, last, first->process);  // each physical file has a domain
}

// A mistyped number must not fill the storage at close. Nothing is stored for logical files that no task serves, except
// for their entries in a table.
Status check_index_fits(const WritePlanInput& input) {
  constexpr std::uint64_t kPlaceBytes = 16;            // of a table: where a rank is, and which one is there
  const std::uint64_t n = input.requests.n_logical();  // at most 2^40
  const std::uint64_t places = input.mapping ? n * kPlaceBytes : 0;
  if (n * format::kFileEntryBytes + places <= input.storage.free_bytes) return {};
  std::uint64_t served = 0;
  input.requests.for_each([&](std::size_t, const WriteRequest& request) {
    for (const RankRange& range : request.ranges) served += range.count;
  });
  const std::uint64_t least = std::min(n * format::kFileEntryBytes, served * format::kListedEntryBytes) + places;
  if (least <= input.storage.free_bytes) return {};
  return Status::error(Code::no_space,
                       "{} logical files need an index of {} bytes; the file system has {} bytes free; ask for fewer "
                       "logical files, or free space",
                       n, least, input.storage.free_bytes);
}

// The new session and the new state slot need a number each.
Status check_room_for_session(const PhysicalReader& physical) {
  if (physical.state().session < format::kMostSession && physical.state().sequence < format::kMaxOffset) return {};
  return Status::error(
      Code::out_of_range,
      "'{}' has had as many sessions as the format can count; `thalweg defrag` makes a copy that can be appended to",
      physical.path());
}

// Where each logical file lives, read from the physical files; the table must agree.
Status invert_ranks(ReadSet& old, WritePlan& plan) {
  plan.ranks.table.resize(old.header().n_logical);
  PageCache cache;
  std::uint64_t n = 0;
  for (std::uint32_t k = 0; k < plan.files.size(); ++k) {
    const std::vector<std::uint64_t>& ranks = plan.files[k].ranks;
    for (std::uint64_t i = 0; i < ranks.size(); ++i, ++n) {
      TW_ASSIGN_OR_RETURN(const PlacedRange told, old.locate(ranks[i], cache));
      if (told.physical != k || told.local != i)
        return old.first().corrupt(
            fmt::format("physical file {} holds logical file {}, which the table tells elsewhere", k, ranks[i]));
      plan.ranks.table[ranks[i]] = i << 32 | k;
    }
  }
  if (n == plan.ranks.table.size()) return {};
  return old.first().corrupt(fmt::format("its physical files hold {} of {} logical files", n, plan.ranks.table.size()));
}

// A further session begins in all later physical files behind the end of the farthest one. Each that was made must be
// there: in a new one the places of its pieces would be given out again. A process that died may have left one behind
// that counts as never made; nothing is written over its bytes.
Status begin_later(ReadSet& old, WritePlan& plan) {
  PlannedFile& file = plan.files[0];
  if (file.header.n_later == 0) return {};
  std::uint64_t end = format::kFirstSection;
  std::vector<std::uint64_t>& ends = plan.later_ends;
  TW_ASSIGN_OR_RETURN(ends, later_ends(old.first()));
  for (std::uint32_t k = 1; k <= ends.size(); ++k) {
    if (ends[k - 1] == 0) {
      TW_ASSIGN_OR_RETURN(const std::uint64_t left_behind, old.bytes_left_behind(k));
      end = std::max(end, left_behind);
      continue;
    }
    TW_ASSIGN_OR_RETURN(const PhysicalReader* later, old.physical(k));
    end = std::max({end, ends[k - 1], later->file_bytes()});
  }
  file.session.later_start = align_up(end, slab_unit(plan));
  return {};
}

// Fills in the part of the plan that is sent to all tasks.
void fill_common(const WritePlanInput& input, WritePlan& plan) {
  plan.common.header = plan.files[0].header;
  plan.common.session = plan.files[0].session;
  const auto nodes = static_cast<std::uint64_t>(input.requests.nodes());
  plan.common.first_bytes =
      std::max<std::uint64_t>(even_share(nodes, input.requests.tasks(), input.options.first_bytes), 1);
  plan.common.usual = usual_domain(plan);
}

}  // namespace

Result<WritePlan> plan_create(const WritePlanInput& input) {
  TW_RETURN_IF_ERROR(check_index_fits(input));
  if (input.mapping && (input.options.physical_files == kAuto || input.options.physical_files == kOnePerNode))
    return Status::error(Code::invalid_argument, "a mapping needs the hint physical_files as a number");
  TW_ASSIGN_OR_RETURN(const Strategy strategy, choose_strategy(input.storage, input.options.storage_hints));
  std::string why_files;
  WritePlan plan;
  plan.common.stripes = asked_stripes(strategy);
  plan.stripes = usable(stripes_to_be(input.storage, plan.common.stripes),
                        std::max<std::uint64_t>(input.options.alignment_bytes, kPageBytes));
  const std::uint32_t n_files = choose_n_physical(input, strategy, plan.stripes, why_files);
  const format::FileHeader header = new_header(input, plan.stripes, n_files);
  const std::uint32_t n_physical = header.n_physical;
  plan.files.resize(n_physical);
  plan.ranks.kind = header.mapping;
  const bool is_table = header.mapping == Mapping::table;
  if (is_table) {
    TW_RETURN_IF_ERROR(fill_table(input, plan));
  } else {
    plan.ranks.bounds = choose_bounds(input.requests, n_physical);
  }
  for (std::uint32_t k = 0; k < n_physical; ++k) {
    PlannedFile& file = plan.files[k];
    file.header = header;
    file.header.id.physical = k;
    file.header.first_rank = is_table ? 0 : plan.ranks.bounds[k];
    file.header.n_local = is_table ? file.ranks.size() : plan.ranks.bounds[k + 1] - plan.ranks.bounds[k];
  }
  plan.common.chunk_bytes = usual_chunk(input);
  plan.common.reserves = reserves(input);
  plan.common.direct = choose_writes(input, strategy);
  plan.common.strategy = describe(plan, input, why_files,
                                  input.options.in_tier()                  ? "for the drained file"
                                  : input.options.alignment_bytes != kAuto ? "as asked for"
                                  : plan.stripes.bytes > 0                 ? "slabs begin on stripes"
                                                                           : "block of " + input.storage.kind);
  TW_RETURN_IF_ERROR(place_domains(input, plan));
  place_sections(plan);
  if (header.n_later > 0) plan.files[0].session.later_start = align_up(format::kFirstSection, slab_unit(plan));
  fill_common(input, plan);
  return plan;
}

Result<WritePlan> plan_append(const WritePlanInput& input, ReadSet& old) {
  TW_ASSIGN_OR_RETURN(const Strategy strategy, choose_strategy(input.storage, input.options.storage_hints));
  WritePlan plan;
  plan.ranks = old.mapping();
  if (!plan.ranks.added.empty())
    plan.common.first_added = plan.ranks.added.back().local + plan.ranks.added.back().count;
  for (std::uint32_t k = 0; k < old.header().n_physical; ++k) {  // memory grows with the files that exist
    TW_ASSIGN_OR_RETURN(const PhysicalReader* physical, old.physical(k));
    TW_RETURN_IF_ERROR(check_room_for_session(*physical));
    TW_ASSIGN_OR_RETURN(const std::uint64_t end, end_of_added(*physical));
    plan.common.first_added = std::max(plan.common.first_added, end);
    PlannedFile& file = plan.files.emplace_back();
    file.header = physical->header();
    TW_ASSIGN_OR_RETURN(file.ranks, old.ranks(*physical));
    file.state = physical->state();
    file.session.previous_offset = file.state.covered_session_offset = file.state.session_offset;
    file.session.session = ++file.state.session;
    file.state.sequence += 1;
    file.state.state = format::FileState::open;
  }
  if (plan.ranks.kind == Mapping::table) TW_RETURN_IF_ERROR(invert_ranks(old, plan));
  plan.stripes = usable(input.storage.stripes, plan.files[0].header.alignment);
  plan.common.chunk_bytes = usual_chunk(input);
  plan.common.reserves = reserves(input);
  plan.common.direct = choose_writes(input, strategy);
  plan.common.strategy = describe(plan, input, kAsCreated, kAsCreated);
  TW_RETURN_IF_ERROR(place_domains(input, plan));
  for (PlannedFile& file : plan.files) place_session(file, align_up(file.state.end, kPageBytes), slab_unit(plan));
  TW_RETURN_IF_ERROR(begin_later(old, plan));
  fill_common(input, plan);
  return plan;
}

std::uint32_t home_of(const WritePlan& plan, const WriteRequest& request, std::size_t task, std::size_t tasks) {
  std::optional<std::uint32_t> home;
  for (const RankRange& range : request.ranges)
    if (range.count > 0 && !home)
      plan.ranks.for_each_placed({range.first, 1}, [&](const PlacedRange& p) { home = p.physical; });
  return home.value_or(static_cast<std::uint32_t>(even_share(task, tasks, plan.files.size())));
}

std::optional<DomainShare> domain_share(const WritePlan& plan, std::uint32_t physical, std::int64_t process) {
  const auto found = std::partition_point(plan.domains.begin(), plan.domains.end(), [&](const WritePlan::DomainRow& d) {
    return d.physical != physical ? d.physical < physical : d.process + d.count <= process;
  });
  if (found == plan.domains.end() || found->physical != physical || found->process > process) return std::nullopt;
  const std::uint64_t prefix = found->prefix + static_cast<std::uint64_t>(process - found->process) * found->bytes;
  const bool later = physical >= plan.files.size();
  const format::SessionPage& session = plan.files[later ? 0 : physical].session;
  if (later) return DomainShare{physical, session.session, session.later_layout(prefix / found->bytes)};
  return DomainShare{physical,
                     session.session,
                     {session.data_start, session.round_bytes, prefix, found->bytes, session.rounds_per_doubling,
                      session.most_doublings}};
}

}  // namespace thalweg
