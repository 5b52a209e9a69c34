#include "multifile/format/header.hpp"

#include <fmt/core.h>

#include <optional>

#include "base/checked_math.hpp"
#include "base/crc32c.hpp"
#include "store/format/field_list.hpp"

namespace thalweg::format {

namespace {

constexpr std::string_view kHeaderMagic("\x89THALW\x0D\x0A", kMagicBytes);
constexpr std::string_view kStateMagic = "TWSTATE1";
constexpr std::string_view kSessionMagic = "TWSESSN1";
constexpr std::size_t kHeaderCrcOffset = 508;
constexpr std::uint64_t kMostLogical = std::uint64_t{1} << 40;
constexpr std::uint64_t kMostPhysical = std::uint64_t{1} << 20;
constexpr std::uint64_t kMostLater = (1 << 16) - 1;  // a piece has 16 bits for the number
constexpr std::uint64_t kMostAlignment = std::uint64_t{1} << 26;

bool is_page(std::uint64_t offset) {
  return offset >= kFirstSection && offset % kPageBytes == 0 && offset <= kMaxOffset;
}

// Whether a section of `n_entries` entries at `offset` fits into a file of `file_bytes` bytes.
bool section_fits(std::uint64_t offset, std::uint64_t n_entries, std::uint64_t entry_bytes, std::uint64_t file_bytes) {
  return offset <= file_bytes && section_pages(n_entries, entry_bytes) <= (file_bytes - offset) / kPageBytes;
}

Status check_version(const FileHeader& header) {
  if (header.major == kMajorVersion) return {};
  if (header.major == 0) return bad_field("file header", "major version", 0, std::to_string(kMajorVersion));
  return Status::error(Code::unsupported_version,
                       "file header: major version is {}; this library reads version {} of the multifile format only",
                       header.major, kMajorVersion);
}

Status check_features(const FileHeader& header) {
  if (header.required_features == 0) return {};
  const int bit = __builtin_ctzll(header.required_features);
  return Status::error(Code::unsupported_version,
                       "file header: required feature {} is not known to this library; a newer one reads the file",
                       bit);
}

Status check_counts(const FileHeader& h) {
  const auto bad = [](const char* field, std::uint64_t value, const std::string& allowed) {
    return bad_field("file header", field, value, allowed);
  };
  if (h.n_logical > kMostLogical) return bad("number of logical files", h.n_logical, "at most 2^40");
  if (h.n_local > h.n_logical)
    return bad("number of logical files here", h.n_local, fmt::format("at most {}", h.n_logical));
  if (h.mapping != Mapping::consecutive && h.mapping != Mapping::table)
    return bad("mapping", static_cast<std::uint32_t>(h.mapping), "0 or 1");
  const std::uint64_t last_first = h.mapping == Mapping::table ? 0 : h.n_logical - h.n_local;
  if (h.first_rank > last_first) return bad("first rank", h.first_rank, fmt::format("at most {}", last_first));
  if (h.n_physical == 0 || h.n_physical > kMostPhysical)
    return bad("number of physical files", h.n_physical, "1 to 2^20");
  if (h.n_later > (h.n_physical == 1 && h.mapping == Mapping::consecutive ? kMostLater : 0))
    return bad("number of later physical files", h.n_later, "at most 65535, beside others or with a table 0,");
  if (h.id.physical >= h.n_physical + h.n_later)
    return bad("number of this physical file", h.id.physical, fmt::format("less than {}", h.n_physical + h.n_later));
  if (h.is_later() && h.n_local != 0)
    return bad("number of logical files here", h.n_local, "in a later physical file, only 0");
  if (h.checksum != Checksum::none && h.checksum != Checksum::crc32c)
    return bad("checksum of data", static_cast<std::uint32_t>(h.checksum), "0 or 1");
  if (!is_power_of_two(h.alignment) || h.alignment < 512 || h.alignment > kMostAlignment)
    return bad("alignment", h.alignment, "a power of two from 512 to 2^26");
  if (!is_power_of_two(h.granule) || h.granule < 4096 || h.granule > kMostAlignment)
    return bad("granule", h.granule, "a power of two from 4096 to 2^26");
  return {};
}

Status check_places(const FileHeader& h, std::uint64_t file_bytes) {
  const auto bad = [&](const char* field, std::uint64_t value, const char* allowed) {
    return bad_field("file header", field, value, fmt::format("{} in the file of {} bytes", allowed, file_bytes));
  };
  const bool is_table = h.mapping == Mapping::table;
  if (h.id.physical != 0) {
    if (h.map_offset != 0) return bad("offset of bounds or table", h.map_offset, "only 0, outside physical file 0,");
  } else {
    const std::uint64_t entries = is_table ? h.n_logical : std::uint64_t{h.n_physical} + 1;
    if (!is_page(h.map_offset) || !section_fits(h.map_offset, entries, 8, file_bytes))
      return bad("offset of bounds or table", h.map_offset, "a page with room for the section");
  }
  if (!is_table || h.n_local == 0) {
    if (h.ranks_offset != 0) return bad("offset of ranks", h.ranks_offset, "only 0");
  } else if (!is_page(h.ranks_offset) || !section_fits(h.ranks_offset, h.n_local, 8, file_bytes)) {
    return bad("offset of ranks", h.ranks_offset, "a page with room for the section");
  }
  if (h.is_later())
    return h.session_offset == 0 ? Status{} : bad("offset of the session page", h.session_offset, "only 0");
  if (!is_page(h.session_offset) || !section_fits(h.session_offset, 1, kPagePayload, file_bytes))
    return bad("offset of the session page", h.session_offset, "a page");
  return {};
}

template <class Io, class Header>
void list_header(Io& io, Header& h) {
  std::uint32_t header_bytes = kHeaderBytes;
  move_fields(io, h.major, h.minor, header_bytes, h.id, h.required_features, h.optional_features, h.n_logical,
              h.n_local, h.first_rank, h.n_physical, h.id.physical, h.mapping, h.checksum, h.alignment, h.granule,
              h.map_offset, h.ranks_offset, h.session_offset, h.created_seconds, h.n_later);
}

template <class Io, class Slot>
void list_state(Io& io, Slot& s) {
  std::uint32_t reserved = 0;
  move_fields(io, s.sequence, s.state, s.session, s.session_offset, s.end, s.index_offset, s.index_bytes, s.durable,
              reserved, s.covered_session_offset);
}

template <class Io, class Page>
void list_session(Io& io, Page& s) {
  move_fields(io, s.session, s.rounds_per_doubling, s.previous_offset, s.n_domains, s.domains_offset, s.data_start,
              s.round_bytes, s.most_doublings, s.later_doublings, s.later_start, s.later_domains, s.later_bytes);
}

Status bad_state(const char* field, std::uint64_t value, const std::string& allowed) {
  return bad_field("state slot", field, value, allowed);
}

Status check_covered_session(const StateSlot& s) {
  const std::uint64_t covered = s.covered_session_offset;
  const auto bad = [&](const char* allowed) {
    return bad_state("offset of the session page that the index covers last", covered, allowed);
  };
  if (s.index_offset == 0) return covered == 0 ? Status{} : bad("without an index, 0");
  if (s.state == FileState::closed && covered != s.session_offset) return bad("in a closed file, the session page");
  return is_page(covered) && covered < s.index_offset ? Status{} : bad("a page before the index");
}

Status check_index_place(const StateSlot& s) {
  if (s.index_offset == 0) {
    if (s.state == FileState::closed) return bad_state("offset of the index", 0, "in a closed file, a page");
    if (s.index_bytes != 0) return bad_state("bytes of the index", s.index_bytes, "without an index, 0");
    return {};
  }
  if (!is_page(s.index_offset) || s.index_offset > s.end)
    return bad_state("offset of the index", s.index_offset, "a page before the end");
  if (s.index_bytes < kPageBytes || s.index_bytes % kPageBytes != 0 || s.index_bytes > s.end - s.index_offset)
    return bad_state("bytes of the index", s.index_bytes, "a multiple of 4096, up to the end,");
  if (s.state == FileState::closed && s.index_bytes != s.end - s.index_offset)
    return bad_state("end", s.end, "in a closed file, only the end of the index");
  return {};
}

Status check_state(const StateSlot& s, int slot_index) {
  if (s.sequence == 0 || slot_of(s.sequence) != slot_index)
    return bad_state("sequence", s.sequence,
                     slot_index == 0 ? "in slot A an odd number" : "in slot B an even number, 2 or more,");
  if (s.state != FileState::open && s.state != FileState::closed)
    return bad_state("state", static_cast<std::uint32_t>(s.state), "1 or 2");
  if (s.session > kMostSession) return bad_state("session", s.session, "at most 2^24-1");
  if (!is_page(s.session_offset)) return bad_state("offset of the session page", s.session_offset, "a page");
  if (s.end > kMaxOffset) return bad_state("end", s.end, "at most 2^63-1");
  if (s.state == FileState::open && s.end != s.session_offset)
    return bad_state("end", s.end, "in an open file, only the offset of the session page");
  if (s.session_offset > s.end)
    return bad_state("offset of the session page", s.session_offset, "a page before the end");
  TW_RETURN_IF_ERROR(check_index_place(s));
  return check_covered_session(s);
}

// No value where the place holds no slot or a torn one.
std::optional<StateSlot> read_slot(ByteView place, const FileIdentity& id, int slot_index) {
  if (place.size() < kSlotBytes) return std::nullopt;
  const ByteView bytes = place.first(kSlotBytes);
  FieldReader in(bytes);
  if (!in.get_magic(kStateMagic) || !is_sealed(bytes, id, kSlotOffset[slot_index])) return std::nullopt;
  StateSlot slot;
  list_state(in, slot);
  return slot;
}

Status bad_session(const char* field, std::uint64_t value, const std::string& allowed) {
  return bad_field("session page", field, value, allowed);
}

Status check_session_place(const SessionPage& s, const FileHeader& header, std::uint64_t offset) {
  if (s.session > kMostSession) return bad_session("session number", s.session, "at most 2^24-1");
  if ((s.session == 0) != (offset == header.session_offset))
    return bad_session("session number", s.session, "0 where the file header says, and only there,");
  if (s.session == 0 && s.previous_offset != 0)
    return bad_session("offset of the previous session page", s.previous_offset, "in session 0, only 0");
  if (s.session != 0 && (!is_page(s.previous_offset) || s.previous_offset >= offset))
    return bad_session("offset of the previous session page", s.previous_offset, "a page before this one");
  return {};
}

Status check_domains(const SessionPage& s, const FileHeader& header, std::uint64_t offset, std::uint64_t file_bytes) {
  if (s.n_domains == 0) return bad_session("number of domains", 0, "1 or more");
  if (!is_page(s.domains_offset) || s.domains_offset <= offset ||
      !section_fits(s.domains_offset, s.n_domains, 8, file_bytes))
    return bad_session("offset of the domain section", s.domains_offset,
                       fmt::format("a page behind the session page with room for {} entries", s.n_domains));
  const std::uint64_t domains_end = s.domains_offset + section_pages(s.n_domains, 8) * kPageBytes;
  // Not far behind, so that a wrong number cannot make a repair put its index petabytes away.
  if (s.data_start % header.alignment != 0 || s.data_start < domains_end ||
      s.data_start - domains_end >= kMostAlignment)
    return bad_session("data start", s.data_start,
                       "a multiple of the alignment, less than 2^26 behind the domain section,");
  std::uint64_t least = 0;
  if (mul_overflow<std::uint64_t>(s.n_domains, header.alignment, &least) || s.round_bytes % header.alignment != 0 ||
      s.round_bytes < least || s.round_bytes > kMaxOffset)
    return bad_session("round bytes", s.round_bytes, "a multiple of the alignment, at least one for each domain,");
  if (s.most_doublings > kMostDoublings) return bad_session("most doublings", s.most_doublings, "at most 40");
  return {};
}

Status check_later(const SessionPage& s, const FileHeader& header) {
  if (header.n_later == 0) {
    if (s.later_start == 0 && s.later_domains == 0 && s.later_bytes == 0 && s.later_doublings == 0) return {};
    return bad_session("data start in later physical files", s.later_start, "where there are none, only 0");
  }
  if (s.later_start < kFirstSection || s.later_start % header.alignment != 0 || s.later_start > kMaxOffset)
    return bad_session("data start in later physical files", s.later_start,
                       "a multiple of the alignment, 4096 or more,");
  std::uint64_t round = 0;
  if (s.later_domains == 0 || s.later_bytes == 0 || s.later_bytes % header.alignment != 0 ||
      mul_overflow(s.later_domains, s.later_bytes, &round) || round > kMaxOffset)
    return bad_session("slab bytes in later physical files", s.later_bytes,
                       fmt::format("for {} domains, a multiple of the alignment,", s.later_domains));
  if (s.later_doublings > kMostDoublings)
    return bad_session("most doublings in later physical files", s.later_doublings, "at most 40");
  return {};
}

}  // namespace

std::array<std::byte, kHeaderBytes> encode_header(const FileHeader& h) {
  std::array<std::byte, kHeaderBytes> bytes{};
  FieldWriter out(bytes);
  out.put_magic(kHeaderMagic);
  list_header(out, h);
  const ByteSpan all(bytes);
  store_le(all.subspan(kHeaderCrcOffset), crc32c(all.first(kHeaderCrcOffset)));
  return bytes;
}

FileHeader later_header(const FileHeader& first, std::uint32_t number) {
  FileHeader header = first;
  header.id.physical = number;
  header.n_local = header.first_rank = header.map_offset = header.session_offset = 0;
  return header;
}

bool begins_as_multifile(ByteView bytes) {
  return bytes.size() >= kHeaderMagic.size() && FieldReader(bytes).get_magic(kHeaderMagic);
}

Result<FileHeader> parse_header(ByteView first_512_bytes, std::uint64_t file_bytes) {
  const ByteView bytes = first_512_bytes;
  if (!begins_as_multifile(bytes)) return corrupt("not a multifile: it does not begin with the magic bytes of one");
  if (bytes.size() != kHeaderBytes) return bad_size("file header", bytes.size(), kHeaderBytes);
  FieldReader in(bytes);
  in.get_bytes(kHeaderMagic.size());
  FileHeader header;
  list_header(in, header);
  // Before the crc: a later major version may have its header laid out in another way.
  TW_RETURN_IF_ERROR(check_version(header));
  if (load_le<std::uint32_t>(bytes.subspan(kHeaderCrcOffset)) != crc32c(bytes.first(kHeaderCrcOffset)))
    return bad_crc("file header", 0);
  const auto header_bytes = load_le<std::uint32_t>(bytes.subspan(12));
  if (header_bytes != kHeaderBytes) return bad_field("file header", "header bytes", header_bytes, "512");
  TW_RETURN_IF_ERROR(check_features(header));
  TW_RETURN_IF_ERROR(check_counts(header));
  TW_RETURN_IF_ERROR(check_places(header, file_bytes));
  return header;
}

std::array<std::byte, kSlotBytes> encode_state(const StateSlot& s, const FileIdentity& id) {
  std::array<std::byte, kSlotBytes> bytes{};
  FieldWriter out(bytes);
  out.put_magic(kStateMagic);
  list_state(out, s);
  seal(bytes, id, state_offset(s));
  return bytes;
}

std::uint64_t state_offset(const StateSlot& slot) { return kSlotOffset[slot_of(slot.sequence)]; }

StateSlot closed_state(const StateSlot& open, std::uint64_t index_offset, std::uint64_t end, bool durable) {
  StateSlot closed = open;
  closed.sequence += 1;
  closed.state = FileState::closed;
  closed.durable = durable;
  closed.end = end;
  closed.index_offset = index_offset;
  closed.index_bytes = end - index_offset;
  closed.covered_session_offset = closed.session_offset;
  return closed;
}

Result<StateSlot> parse_state(ByteView place_a, ByteView place_b, const FileIdentity& id,
                              std::optional<StateSlot>* before) {
  const std::optional<StateSlot> a = read_slot(place_a, id, 0);
  const std::optional<StateSlot> b = read_slot(place_b, id, 1);
  if (!a && !b) return corrupt("neither state slot is valid: it cannot be told whether the file was closed");
  // Both are checked: wrong fields under a valid checksum were written by a defect and not torn.
  if (a) TW_RETURN_IF_ERROR(check_state(*a, 0));
  if (b) TW_RETURN_IF_ERROR(check_state(*b, 1));
  const bool a_holds = !b || (a && a->sequence > b->sequence);
  if (before != nullptr) *before = a_holds ? b : a;
  return a_holds ? *a : *b;
}

std::vector<std::byte> encode_session(const SessionPage& s, const FileIdentity& id, std::uint64_t offset) {
  std::vector<std::byte> page(kPageBytes);
  FieldWriter out(page);
  out.put_magic(kSessionMagic);
  list_session(out, s);
  seal(page, id, offset);
  return page;
}

Result<SessionPage> parse_session(ByteView page, const FileHeader& header, std::uint64_t offset,
                                  std::uint64_t file_bytes) {
  TW_RETURN_IF_ERROR(check_sealed_page("session page", kSessionMagic, page, header.id, offset));
  FieldReader in(page.subspan(kSessionMagic.size()));
  SessionPage s;
  list_session(in, s);
  TW_RETURN_IF_ERROR(check_session_place(s, header, offset));
  TW_RETURN_IF_ERROR(check_domains(s, header, offset, file_bytes));
  TW_RETURN_IF_ERROR(check_later(s, header));
  return s;
}

}  // namespace thalweg::format
