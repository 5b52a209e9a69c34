#include "multifile/format/layout.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "base/checked_math.hpp"
#include "store/format/field_list.hpp"

namespace thalweg::format {

namespace {

std::uint64_t entries_per_page(std::uint64_t entry_bytes) { return kPagePayload / entry_bytes; }

// Sets *sum += a * b; false when that exceeds the largest offset.
bool add_product(std::uint64_t a, std::uint64_t b, std::uint64_t* sum) {
  std::uint64_t product = 0;
  return !mul_overflow(a, b, &product) && !add_overflow(*sum, product, sum) && *sum <= kMaxOffset;
}

Status rounds_end(std::uint64_t k) { return Status::error(Code::out_of_range, "slab {} would end beyond 2^63-1", k); }

}  // namespace

Status check_sealed_page(const std::string& structure, std::string_view magic, ByteView page, const FileIdentity& id,
                         std::uint64_t offset) {
  if (page.size() != kPageBytes) return bad_size(structure.c_str(), page.size(), kPageBytes);
  if (!FieldReader(page).get_magic(magic))
    return corrupt("{} at offset {}: it does not begin with its magic bytes", structure, offset);
  return is_sealed(page, id, offset) ? Status{} : bad_crc(structure.c_str(), offset);
}

void seal_page(ByteSpan page, SectionKind kind, std::uint64_t page_number, const FileIdentity& id,
               std::uint64_t offset) {
  FieldWriter out(page.subspan(kPagePayload));
  move_fields(out, kind, page_number);
  seal(page, id, offset);
}

Status check_page(ByteView page, SectionKind kind, std::uint64_t page_number, const FileIdentity& id,
                  std::uint64_t offset) {
  if (page.size() != kPageBytes) return bad_size("section page", page.size(), kPageBytes);
  FieldReader in(page.subspan(kPagePayload));
  const auto found_kind = in.get<std::uint32_t>();
  const auto found_number = in.get<std::uint64_t>();
  if (!is_sealed(page, id, offset)) return bad_crc("section page", offset);
  const auto must_be = [&](const char* field, std::uint64_t found, std::uint64_t wanted) {
    if (found == wanted) return Status{};
    const std::string where = fmt::format("{} at offset {}", field, offset);
    return bad_field("section page", where.c_str(), found, fmt::format("only {}", wanted));
  };
  TW_RETURN_IF_ERROR(must_be("kind", found_kind, static_cast<std::uint32_t>(kind)));
  return must_be("page number", found_number, page_number);
}

void append_section(std::vector<std::byte>& out, SectionKind kind, ByteView entries, std::uint64_t entry_bytes,
                    const FileIdentity& id, std::uint64_t offset) {
  const std::uint64_t n_pages = section_pages(entries.size() / entry_bytes, entry_bytes);
  const std::uint64_t payload = entries_per_page(entry_bytes) * entry_bytes;
  const std::size_t start = out.size();
  out.resize(start + n_pages * kPageBytes);
  for (std::uint64_t number = 0; number < n_pages; ++number) {
    const ByteSpan page = ByteSpan(out).subspan(start + number * kPageBytes, kPageBytes);
    const ByteView part =
        entries.subspan(number * payload, std::min<std::uint64_t>(payload, entries.size() - number * payload));
    std::memcpy(page.data(), part.data(), part.size());
    seal_page(page, kind, number, id, offset + number * kPageBytes);
  }
}

Result<std::vector<std::byte>> parse_section(ByteView pages, SectionKind kind, std::uint64_t n_entries,
                                             std::uint64_t entry_bytes, const FileIdentity& id, std::uint64_t offset,
                                             std::uint64_t first) {
  const std::uint64_t n_pages = section_pages(n_entries, entry_bytes);
  if (pages.size() % kPageBytes != 0 || pages.size() / kPageBytes != n_pages)
    return bad_size("section", pages.size(), n_pages * kPageBytes);
  const std::uint64_t payload = entries_per_page(entry_bytes) * entry_bytes;
  std::vector<std::byte> entries(n_entries * entry_bytes);  // no more than `pages` holds
  for (std::uint64_t number = 0; number < n_pages; ++number) {
    const ByteView page = pages.subspan(number * kPageBytes, kPageBytes);
    TW_RETURN_IF_ERROR(check_page(page, kind, first + number, id, offset + number * kPageBytes));
    const std::uint64_t done = number * payload;
    std::memcpy(entries.data() + done, page.data(), std::min<std::uint64_t>(payload, entries.size() - done));
  }
  return entries;
}

Result<Slab> slab_at(const SlabLayout& layout, std::uint64_t k) {
  const std::uint64_t rounds = layout.rounds_per_doubling;
  const std::uint64_t e = rounds == 0 ? 0 : std::min<std::uint64_t>(k / rounds, layout.most_doublings);
  if (e > 62) return rounds_end(k);
  // S(k) in closed form: `rounds` rounds of each size 2^0 ... 2^(e-1), then the rest at size 2^e.
  const std::uint64_t factor = std::uint64_t{1} << e;
  std::uint64_t rounds_before = 0;
  if (!add_product(rounds, factor - 1, &rounds_before)) return rounds_end(k);
  if (!add_product(k - e * rounds, factor, &rounds_before)) return rounds_end(k);

  Slab slab{.start = layout.data_start, .bytes = 0};
  if (slab.start > kMaxOffset) return rounds_end(k);
  if (!add_product(layout.round_bytes, rounds_before, &slab.start)) return rounds_end(k);
  if (!add_product(factor, layout.domain_prefix, &slab.start)) return rounds_end(k);
  std::uint64_t end = slab.start;
  if (!add_product(factor, layout.domain_bytes, &end)) return rounds_end(k);
  slab.bytes = end - slab.start;
  return slab;
}

std::string physical_name(const std::string& name, std::uint32_t physical) {
  if (physical == 0) return name;
  const std::string digits = std::to_string(physical);
  const std::size_t zeros = digits.size() < 6 ? 6 - digits.size() : 0;
  return name + "." + std::string(zeros, '0') + digits;
}

std::string uuid_text(const std::array<std::uint8_t, 16>& uuid) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < uuid.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += kDigits[uuid[i] >> 4];
    text += kDigits[uuid[i] & 15];
  }
  return text;
}

}  // namespace thalweg::format
