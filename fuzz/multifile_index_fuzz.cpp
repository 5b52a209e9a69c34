// Index page, sections, entries, attributes. Each input is parsed unchanged, and again with its checksums recomputed.
// An accepted structure equals its own re-encoding and lies within the file.
#include "fuzz_support.hpp"
#include "multifile/format/index.hpp"

namespace thalweg::fuzz {
namespace {

using format::FileHeader;
using format::IndexPage;
using format::SectionKind;
using format::StateSlot;

struct Place {
  StateSlot state;
  std::uint64_t file_bytes = 0;
};

Place place_from(Input& input) {
  Place place;
  const auto open = input.number<std::uint8_t>();
  place.state.state = open & 1 ? format::FileState::open : format::FileState::closed;
  place.state.session = open >> 1;
  place.state.index_offset = std::uint64_t{input.number<std::uint32_t>()} * format::kPageBytes;
  place.state.index_bytes = std::uint64_t{input.number<std::uint16_t>()} * format::kPageBytes;
  place.state.end = place.state.index_offset + place.state.index_bytes;
  place.file_bytes = place.state.end + input.number<std::uint16_t>();
  return place;
}

constexpr std::size_t kFieldBytes = 152;

// kFieldBytes of fields followed by zeros; with `consistent`, the layout that fits the counts.
void try_index_page(const Bytes& fields, const FileHeader& header, const Place& place, std::uint8_t choice,
                    IndexPage* accepted) {
  const bool consistent = (choice & 1) != 0;
  Bytes page = fields;
  page.resize(format::kPageBytes);
  (void)format::parse_index_page(page, header, place.state, place.file_bytes);
  if (consistent) {
    const auto number = [&](std::size_t at) { return load_le<std::uint64_t>(ByteView(page).subspan(at)); };
    IndexPage counts;
    counts.session = place.state.session;
    counts.n_local = header.n_local;
    counts.n_added = number(112) % 1000;
    counts.n_entries = (choice & 8) != 0 ? std::min(number(16) % 10000, header.n_local) : header.n_local;
    counts.n_entries += counts.n_added;
    counts.n_pieces = number(24) % 10000;
    counts.names_bytes = number(32) % 100000;
    counts.attributes_bytes = header.id.physical == 0 ? number(40) % 100000 : 0;
    counts.n_added_runs = header.id.physical == 0 ? number(120) % 1000 : 0;
    counts.n_later = header.n_later;
    counts.n_name_places = header.id.physical == 0 ? number(128) % 10000 : 0;
    const auto layout = format::layout_index(counts, place.state.index_offset);
    if (!layout.has_value()) return;
    page = format::encode_index_page(layout.value(), header.id, place.state.index_offset);
  }
  StateSlot state = place.state;
  reseal(page, header.id, state.index_offset);
  if (consistent) {
    state.end = load_le<std::uint64_t>(ByteView(page).subspan(96));
    state.index_bytes = state.end - state.index_offset;
  }
  const std::uint64_t file_bytes = consistent ? state.end : place.file_bytes;
  auto found = format::parse_index_page(page, header, state, file_bytes);
  if (!found.has_value()) return;
  FUZZ_REQUIRE(found.value().end <= file_bytes && found.value().n_local == header.n_local);
  const auto encoded = format::encode_index_page(found.value(), header.id, state.index_offset);
  auto again = format::parse_index_page(encoded, header, state, file_bytes);
  FUZZ_REQUIRE(again.has_value());
  FUZZ_REQUIRE(format::encode_index_page(again.value(), header.id, state.index_offset) == encoded);
  *accepted = found.value();
}

void try_entries(const Bytes& file_bytes, const Bytes& piece_bytes, const IndexPage& index) {
  Bytes encoded(format::kFileEntryBytes);
  if (auto file = format::parse_file_entry(file_bytes, index); file.has_value()) {
    FUZZ_REQUIRE(file.value().first_piece + file.value().n_pieces <= index.n_pieces);
    FUZZ_REQUIRE(file.value().name_offset + file.value().name_bytes <= index.names_bytes);
    format::encode_file_entry(file.value(), encoded);
    FUZZ_REQUIRE(encoded == file_bytes);
  }
  Bytes listed(8);
  listed.insert(listed.end(), file_bytes.begin(), file_bytes.end());
  if (auto local = format::parse_listed_local(listed, index); local.has_value())
    FUZZ_REQUIRE(local.value() < index.n_local || (format::is_added(*local) && *local < format::kLocalsEnd));
  if (auto piece = format::parse_piece_entry(piece_bytes, index); piece.has_value()) {
    const format::PieceEntry& p = piece.value();
    FUZZ_REQUIRE(p.logical_offset + p.logical_bytes <= format::kMaxOffset && p.logical_bytes > 0);
    if (p.kind == format::PieceKind::zeros) {
      FUZZ_REQUIRE(p.physical_offset == 0 && p.stored_bytes == 0);
    } else {
      const std::uint64_t most = p.later == 0 ? index.files_offset - 4096 : format::kMaxOffset;
      FUZZ_REQUIRE(p.physical_offset >= 4096 && p.physical_offset + p.stored_bytes <= most && p.later <= index.n_later);
    }
    format::encode_piece_entry(p, encoded);
    FUZZ_REQUIRE(encoded == piece_bytes);
  }
}

void try_run_and_place(const Bytes& bytes) {
  constexpr std::uint32_t kPhysical = 1 << 20;
  const Bytes run_bytes(bytes.begin(), bytes.begin() + format::kAddedRunBytes);
  if (auto run = format::parse_added_run(run_bytes, format::kFirstAdded, kPhysical); run.has_value()) {
    FUZZ_REQUIRE(format::is_added(run->first) && run->count > 0 && run->count <= format::kLocalsEnd - run->first);
    Bytes encoded(format::kAddedRunBytes);
    format::encode_added_run(*run, encoded);
    FUZZ_REQUIRE(std::equal(encoded.begin(), encoded.begin() + 20, run_bytes.begin()));  // the rest is reserved
  }
  const Bytes place_bytes(bytes.begin(), bytes.begin() + format::kNamePlaceBytes);
  if (auto place = format::parse_name_place(place_bytes, kPhysical); place.has_value()) {
    Bytes encoded(format::kNamePlaceBytes);
    format::encode_name_place(*place, encoded);
    FUZZ_REQUIRE(encoded == place_bytes);
  }
}

void try_section(Bytes pages, const FileHeader& header, std::uint64_t offset, std::uint64_t n_entries,
                 std::uint64_t entry_bytes) {
  (void)format::parse_section(pages, SectionKind::pieces, n_entries, entry_bytes, header.id, offset);
  pages.resize((pages.size() + format::kPageBytes - 1) / format::kPageBytes * format::kPageBytes);
  for (std::uint64_t i = 0; i < pages.size() / format::kPageBytes; ++i) {
    const std::uint64_t at = i * format::kPageBytes;
    format::seal_page(ByteSpan(pages).subspan(at, format::kPageBytes), SectionKind::pieces, i, header.id, offset + at);
  }
  auto found = format::parse_section(pages, SectionKind::pieces, n_entries, entry_bytes, header.id, offset);
  if (!found.has_value()) return;
  FUZZ_REQUIRE(found.value().size() == n_entries * entry_bytes && found.value().size() <= pages.size());
  Bytes again;
  format::append_section(again, SectionKind::pieces, found.value(), entry_bytes, header.id, offset);
  auto back = format::parse_section(again, SectionKind::pieces, n_entries, entry_bytes, header.id, offset);
  FUZZ_REQUIRE(back.has_value() && back.value() == found.value());
}

void try_attributes(const Bytes& bytes) {
  auto found = format::parse_attributes(bytes);
  if (!found.has_value()) return;
  FUZZ_REQUIRE(format::encode_attributes(found.value()) == bytes);
}

void run(Input& input) {
  const FileHeader header = header_from(input);
  const Place place = place_from(input);
  const auto choice = input.number<std::uint8_t>();
  const Bytes fields = input.take(kFieldBytes);
  IndexPage index;
  index.files_offset = 1 << 20;
  index.n_pieces = index.names_bytes = 1000;
  try_index_page(fields, header, place, choice, &index);
  const Bytes file_entry = input.take(format::kFileEntryBytes);
  const Bytes piece_entry = input.take(format::kPieceEntryBytes);
  try_entries(file_entry, piece_entry, index);
  try_run_and_place(file_entry);
  try_run_and_place(piece_entry);
  constexpr std::uint64_t sizes[] = {1, 8, 40, 48};
  const auto n_entries = input.number<std::uint64_t>();
  const Bytes rest = input.rest();
  try_section(rest, header, place.state.index_offset, n_entries, sizes[(choice >> 1) & 3]);
  try_attributes(rest);
}

}  // namespace
}  // namespace thalweg::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  thalweg::fuzz::Input input(data, size);
  thalweg::fuzz::run(input);
  return 0;
}
