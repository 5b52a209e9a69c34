// File header, state slots, session page. Each input is parsed unchanged, and again with its checksums recomputed. An
// accepted structure equals its own re-encoding, and its sums do not overflow.
#include "fuzz_support.hpp"
#include "multifile/format/header.hpp"

namespace thalweg::fuzz {
namespace {

using format::FileHeader;
using format::SessionPage;
using format::StateSlot;

void header_comes_back(const FileHeader& header, std::uint64_t file_bytes) {
  const auto encoded = format::encode_header(header);
  auto again = format::parse_header(encoded, file_bytes);
  FUZZ_REQUIRE(again.has_value());
  FUZZ_REQUIRE(format::encode_header(again.value()) == encoded);
  FUZZ_REQUIRE(header.first_rank + header.n_local <= header.n_logical);
  FUZZ_REQUIRE(header.is_later() || header.session_offset + format::kPageBytes <= file_bytes);
}

void try_slots(Bytes a, Bytes b, const format::FileIdentity& id) {
  for (const bool sealed : {false, true}) {
    if (sealed) {
      reseal(a, id, format::kSlotOffset[0]);
      reseal(b, id, format::kSlotOffset[1]);
    }
    auto slot = format::parse_state(a, b, id);
    if (!slot.has_value()) continue;
    const StateSlot& s = slot.value();
    FUZZ_REQUIRE(s.index_bytes <= s.end && s.index_offset <= s.end - s.index_bytes && s.end <= format::kMaxOffset);
    const auto encoded = format::encode_state(s, id);
    const bool in_a = format::state_offset(s) == format::kSlotOffset[0];
    auto again = in_a ? format::parse_state(encoded, {}, id) : format::parse_state({}, encoded, id);
    FUZZ_REQUIRE(again.has_value());
    FUZZ_REQUIRE(format::encode_state(again.value(), id) == encoded);
  }
}

// Slabs of one domain are consecutive and end at the largest offset.
void try_slabs(const SessionPage& s, Input& input) {
  format::SlabLayout layout{s.data_start, s.round_bytes, 0, 0, s.rounds_per_doubling, s.most_doublings};
  layout.domain_prefix = input.number<std::uint64_t>() % s.round_bytes;
  layout.domain_bytes = s.round_bytes - layout.domain_prefix;
  const auto k = input.number<std::uint64_t>() >> (input.number<std::uint8_t>() % 64);
  const auto slab = format::slab_at(layout, k);
  const auto next = format::slab_at(layout, k + 1);
  if (!slab.has_value()) return;
  FUZZ_REQUIRE(slab.value().start >= s.data_start && slab.value().bytes >= layout.domain_bytes);
  FUZZ_REQUIRE(slab.value().start + slab.value().bytes <= format::kMaxOffset);
  if (next.has_value()) FUZZ_REQUIRE(next.value().start >= slab.value().start + slab.value().bytes);
}

void try_session(Bytes page, const FileHeader& header, std::uint64_t offset, std::uint64_t file_bytes, Input& input) {
  (void)format::parse_session(page, header, offset, file_bytes);
  reseal(page, header.id, offset);
  auto session = format::parse_session(page, header, offset, file_bytes);
  if (!session.has_value()) return;
  const SessionPage& s = session.value();
  FUZZ_REQUIRE(format::section_pages(s.n_domains, 8) * format::kPageBytes <= file_bytes - s.domains_offset);
  const auto encoded = format::encode_session(s, header.id, offset);
  auto again = format::parse_session(encoded, header, offset, file_bytes);
  FUZZ_REQUIRE(again.has_value());
  FUZZ_REQUIRE(format::encode_session(again.value(), header.id, offset) == encoded);
  FUZZ_REQUIRE(s.later_domains == 0 || s.later_bytes <= format::kMaxOffset / s.later_domains);
  try_slabs(s, input);
}

void run(Input& input) {
  const auto file_bytes = input.number<std::uint64_t>();
  Bytes first = input.take(std::min(input.left(), format::kHeaderBytes));
  (void)format::parse_header(first, file_bytes);
  first.resize(format::kHeaderBytes);
  store_le(ByteSpan(first).subspan(508), crc32c(ByteView(first).first(508)));
  auto parsed = format::parse_header(first, file_bytes);
  FileHeader header;
  header.session_offset = 4096;
  if (parsed.has_value()) {
    header = parsed.value();
    header_comes_back(header, file_bytes);
  }
  const Bytes a = input.take(format::kSlotBytes);
  const Bytes b = input.take(format::kSlotBytes);
  try_slots(a, b, header.id);
  Bytes page = input.take(88);
  page.resize(format::kPageBytes);
  const auto choice = input.number<std::uint64_t>();
  try_session(page, header, choice == 0 ? header.session_offset : choice, file_bytes, input);
}

}  // namespace
}  // namespace thalweg::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  thalweg::fuzz::Input input(data, size);
  thalweg::fuzz::run(input);
  return 0;
}
