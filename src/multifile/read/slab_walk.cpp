#include "multifile/read/slab_walk.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "base/endian.hpp"
#include "store/places.hpp"

namespace thalweg {

namespace {

bool begins_as_index(std::span<const std::byte> page) {
  constexpr std::string_view kMagic = "TWINDEX1";
  return std::memcmp(page.data(), kMagic.data(), kMagic.size()) == 0;
}

// Slab bytes of each domain in round 0, checked against the session page.
Result<std::vector<std::uint64_t>> read_domains(const PhysicalReader& physical, const format::SessionPage& session) {
  TW_ASSIGN_OR_RETURN(std::vector<std::uint64_t> domains,
                      physical.numbers(format::SectionKind::domains, session.domains_offset, session.n_domains));
  std::uint64_t left = session.round_bytes;
  for (std::size_t d = 0; d < domains.size(); ++d) {
    if (domains[d] == 0 || domains[d] > left || domains[d] % physical.header().alignment != 0)
      return physical.corrupt(fmt::format("slab bytes of domain {} contradict the session page or the alignment", d));
    left -= domains[d];
  }
  if (left == 0) return domains;
  return physical.corrupt(fmt::format("the domains of session {} do not add up to its round", session.session));
}

// Whether slab k does not exist or ends behind `offset`.
bool ends_behind(const format::SlabLayout& layout, std::uint64_t k, std::uint64_t offset) {
  auto slab = format::slab_at(layout, k);
  return !slab.has_value() || slab->bytes > offset || slab->start > offset - slab->bytes;
}

// The first slab behind `k` that does not end before `offset`; slab k does.
std::uint64_t slab_behind(const format::SlabLayout& layout, std::uint64_t k, std::uint64_t offset) {
  std::uint64_t step = 1;
  while (!ends_behind(layout, k + step, offset)) {
    k += step;
    step *= 2;
  }
  std::uint64_t high = k + step;  // k does not end behind it, `high` does
  while (high - k > 1) {
    const std::uint64_t middle = k + (high - k) / 2;
    (ends_behind(layout, middle, offset) ? high : k) = middle;
  }
  return high;
}

// Walks the frames of the slabs of a session; section 3 of the format document defines where a slab ends.
class SlabWalk {
 public:
  SlabWalk(const PhysicalReader& physical, const FoundSession& session,
           const std::function<Status(const format::Frame&)>& visit,
           const std::function<void(std::uint64_t offset)>& damage, const GoOn& go_on)
      : physical_(physical), session_(session), visit_(visit), damage_(damage), go_on_(go_on) {}

  // The slabs of one domain that may hold data.
  Status domain(const format::SlabLayout& layout) {
    for (std::uint64_t k = 0;;) {
      TW_RETURN_IF_ERROR(ask());
      auto found = format::slab_at(layout, k);
      if (!found.has_value() || found->start >= session_.limit) return {};
      TW_ASSIGN_OR_RETURN(const std::uint64_t data, physical_.file().next_data(found->start));
      if (data < found->start + found->bytes) {
        TW_RETURN_IF_ERROR(slab(*found));
        ++k;
      } else {
        k = slab_behind(layout, k, data);
      }
    }
  }

 private:
  Status slab(const format::Slab& slab) {
    const std::uint64_t slab_end = slab.start + slab.bytes, end = std::min(slab_end, session_.limit);
    std::uint64_t at = slab.start;
    bool lost = false;  // searching for the next frame behind damage
    while (at < end) {
      std::array<std::byte, format::kFrameBytes> bytes{};  // zeros behind the end of the file: a cut frame is damaged
      TW_RETURN_IF_ERROR(physical_.file().read(at, bytes).status());
      const auto frame = format::parse_frame(bytes, physical_.header(), at, slab_end - at);
      if (frame && frame->session == session_.page.session) {
        TW_RETURN_IF_ERROR(visit_(*frame));
        at += frame->extent;
        lost = false;
        continue;
      }
      if (frame && frame->session > session_.page.session && physical_.header().is_later()) return {};
      const bool zero = format::all_zero(bytes);
      if (zero && !lost) return {};
      TW_ASSIGN_OR_RETURN(const bool behind, index_is_at(at));
      if (behind) return {};
      TW_RETURN_IF_ERROR(ask());
      if (!lost) damage_(at);
      lost = true;
      at += physical_.header().alignment;
      if (!zero) continue;
      const std::uint64_t step = std::max<std::uint64_t>(physical_.header().alignment, format::kPageBytes);
      TW_ASSIGN_OR_RETURN(at, next_place(physical_.file(), at, step));  // of a frame or a page of an index
    }
    return {};
  }

  // Fails where the caller stops the walk.
  Status ask() {
    constexpr std::uint64_t kStepsPerAsk = 64;
    const bool stop = ++n_ % kStepsPerAsk == 0 && go_on_ && !go_on_();
    return stop ? physical_.stopped() : Status{};
  }

  // An incomplete index may begin in place of a frame. Its first sector identifies it: the death of the machine tears
  // no sector.
  Result<bool> index_is_at(std::uint64_t at) {
    if (at % format::kPageBytes != 0) return false;
    std::vector<std::byte> page(format::kPageBytes);
    TW_ASSIGN_OR_RETURN(const std::size_t got, physical_.file().read(at, page));
    return begins_as_index(page) || (got == page.size() && is_index_section(physical_, page, at));
  }

  const PhysicalReader& physical_;
  const FoundSession& session_;
  const std::function<Status(const format::Frame&)>& visit_;
  const std::function<void(std::uint64_t offset)>& damage_;
  const GoOn& go_on_;
  std::uint64_t n_ = 0;
};

// Where the index that ends at `end` begins, even if only sections of it were written; `end` where there is none.
Result<std::uint64_t> index_begin(const PhysicalReader& physical, std::uint64_t end) {
  std::vector<std::byte> page(format::kPageBytes);
  std::uint64_t begin = end / format::kPageBytes * format::kPageBytes;
  for (bool any = false; begin >= format::kFirstSection + format::kPageBytes; any = true) {
    const std::uint64_t at = begin - format::kPageBytes;
    TW_RETURN_IF_ERROR(read_exactly(physical.file(), at, page));
    if (begins_as_index(page) && format::is_sealed(page, physical.header().id, at)) return at;
    if (!is_index_section(physical, page, at)) return any ? begin : end;
    begin = at;
  }
  return end;
}

}  // namespace

bool is_index_section(const PhysicalReader& physical, std::span<const std::byte> page, std::uint64_t offset) {
  using format::SectionKind;
  const std::uint64_t number = load_le<std::uint64_t>(page.subspan(format::kPagePayload + sizeof(std::uint32_t)));
  for (const SectionKind kind :
       {SectionKind::files, SectionKind::listed_files, SectionKind::pieces, SectionKind::names, SectionKind::attributes,
        SectionKind::added_runs, SectionKind::name_places, SectionKind::later_ends})
    if (format::check_page(page, kind, number, physical.header().id, offset).ok()) return true;
  return false;
}

Status walk_session(const PhysicalReader& physical, const FoundSession& session,
                    const std::function<Status(const format::Frame&)>& visit,
                    const std::function<void(std::uint64_t offset)>& damage, const GoOn& go_on) {
  const format::SessionPage& page = session.page;
  TW_ASSIGN_OR_RETURN(const std::vector<std::uint64_t> domains, read_domains(physical, page));
  format::SlabLayout layout{page.data_start, page.round_bytes, 0, 0, page.rounds_per_doubling, page.most_doublings};
  SlabWalk walk(physical, session, visit, damage, go_on);
  for (const std::uint64_t bytes : domains) {
    layout.domain_bytes = bytes;
    TW_RETURN_IF_ERROR(walk.domain(layout));
    layout.domain_prefix += bytes;
  }
  return {};
}

Status walk_later(const PhysicalReader& later, const format::SessionPage& session, std::uint64_t limit,
                  const std::function<Status(const format::Frame&)>& visit,
                  const std::function<void(std::uint64_t offset)>& damage, const GoOn& go_on) {
  const FoundSession found{0, session, std::min(limit, later.file_bytes())};
  SlabWalk walk(later, found, visit, damage, go_on);
  for (std::uint64_t domain = 0; domain < session.later_domains; ++domain) {
    const format::SlabLayout layout = session.later_layout(domain);
    if (layout.data_start + layout.domain_prefix >= found.limit) return {};
    TW_RETURN_IF_ERROR(walk.domain(layout));
  }
  return {};
}

std::uint64_t later_limit(const std::vector<FoundSession>& sessions, std::size_t i) {
  return i + 1 < sessions.size() ? sessions[i + 1].page.later_start : format::kMaxOffset;
}

Result<std::vector<format::DirectoryEntry>> read_directory(const PhysicalReader& physical, const format::Frame& pack) {
  const std::uint64_t bytes = pack.n_pieces * format::kDirectoryEntryBytes;
  std::vector<std::byte> directory(std::min(bytes, physical.file_bytes()));
  TW_ASSIGN_OR_RETURN(const std::size_t got, physical.file().read(pack.offset + format::kDirectoryOffset, directory));
  return format::parse_directory(std::span(directory).first(got), pack, physical.header());
}

Result<FoundSession> read_session(const PhysicalReader& physical, std::uint64_t offset) {
  if (offset > physical.file_bytes() || physical.file_bytes() - offset < format::kPageBytes)
    return physical.corrupt(fmt::format("no session page at offset {}", offset));
  std::vector<std::byte> page(format::kPageBytes);
  TW_RETURN_IF_ERROR(read_exactly(physical.file(), offset, page));
  TW_ASSIGN_OR_RETURN(const format::SessionPage session,
                      format::parse_session(page, physical.header(), offset, physical.file_bytes()));
  const bool closed_here = physical.closed() && physical.state().session_offset == offset;
  std::uint64_t limit = std::min(physical.state().index_offset, physical.file_bytes());
  if (!closed_here) {
    TW_ASSIGN_OR_RETURN(limit, index_begin(physical, physical.file_bytes()));
  }
  return FoundSession{offset, session, limit};
}

Result<std::vector<FoundSession>> find_sessions(const PhysicalReader& physical, std::uint64_t last_offset,
                                                std::uint64_t from, std::uint64_t* failed_at) {
  std::vector<FoundSession> sessions;
  for (std::uint64_t offset = last_offset; offset != 0 && offset >= from;) {
    if (failed_at != nullptr) *failed_at = offset;
    TW_ASSIGN_OR_RETURN(const FoundSession found, read_session(physical, offset));
    if (found.page.previous_offset >= offset) return physical.corrupt("sessions do not lead back");
    sessions.push_back(found);
    offset = found.page.previous_offset;
  }
  std::reverse(sessions.begin(), sessions.end());
  for (std::size_t i = 0; i + 1 < sessions.size(); ++i) {
    TW_ASSIGN_OR_RETURN(sessions[i].limit,
                        index_begin(physical, std::min(sessions[i + 1].offset, physical.file_bytes())));
  }
  return sessions;
}

}  // namespace thalweg
