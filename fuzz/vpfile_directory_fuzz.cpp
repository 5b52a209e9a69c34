// Headers and entries of NAME.first and NAME.dir of a vpfile. Input: u8 flags (bit 0: keep the checksum, else recompute
// it; bit 1: NAME.dir; from bit 2: pointers), u64 number, 64 bytes of a header, the entry.
#include "fuzz_support.hpp"
#include "support/damage/vp_damage_seal.hpp"
#include "vpfile/format/directory.hpp"

namespace thalweg::fuzz {
namespace {

using format::BlockRun;
using format::DirectoryFile;

void try_header(Bytes bytes, DirectoryFile which, std::uint32_t pointers, bool as_it_is) {
  if (!as_it_is) format::seal(bytes, format::side_identity({}, which), 0);
  format::VpGeometry geometry;
  geometry.n = load_le<std::uint64_t>(ByteView(bytes).subspan(24));
  geometry.pointers = pointers;
  geometry.block_bytes = 64;
  if (format::check_directory_header(bytes, which, {}, geometry).ok())
    FUZZ_REQUIRE(to_bytes(format::encode_directory_header(which, {}, geometry)) == bytes);
}

void try_entry(Bytes bytes, DirectoryFile which, std::uint32_t pointers, std::uint64_t number) {
  if (!format::check_entry(bytes, which, {}, number).ok()) return;
  format::EntryView entry{ByteSpan(bytes)};
  FUZZ_REQUIRE(entry.used() <= pointers);
  const Bytes before = bytes;
  for (std::uint32_t i = 0; i < entry.used(); ++i) {
    const BlockRun run = entry.run(i);
    FUZZ_REQUIRE(run.blocks >= 1 && run.blocks <= (run.is_hole() ? format::kMostHole : format::kMostRun));
    entry.set_run(i, run);
  }
  entry.set_link(entry.link());
  entry.set_amount(entry.amount());
  FUZZ_REQUIRE(bytes == before);
}

void run(Input& input) {
  const auto flags = input.number<std::uint8_t>();
  const bool as_it_is = (flags & 1) != 0;
  const DirectoryFile which = (flags & 2) != 0 ? DirectoryFile::overflow : DirectoryFile::first;
  const std::uint32_t pointers = (flags >> 2) + 1U;
  const auto number = input.number<std::uint64_t>();
  try_header(input.take(format::kDirectoryHeader), which, pointers, as_it_is);
  Bytes entry = input.take(format::entry_bytes(pointers));
  if (!as_it_is) format::seal(entry, format::side_identity({}, which), format::entry_offset(which, pointers, number));
  try_entry(std::move(entry), which, pointers, number);
}

}  // namespace
}  // namespace thalweg::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  thalweg::fuzz::Input input(data, size);
  thalweg::fuzz::run(input);
  return 0;
}
