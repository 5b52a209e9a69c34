// NAME.meta of a vpfile: parsed unchanged, and again with the checksums of its slots recomputed. An accepted structure
// equals its own re-encoding, and its sums do not overflow.
#include "base/size_units.hpp"
#include "fuzz_support.hpp"
#include "support/damage/vp_damage_seal.hpp"
#include "vpfile/format/meta.hpp"

namespace thalweg::fuzz {
namespace {

void try_meta(const Bytes& bytes) {
  const auto parsed = format::parse_meta(bytes);
  if (!parsed.has_value()) return;
  const format::VpMeta& meta = parsed.value();
  const format::VpGeometry& geometry = meta.geometry;
  const auto n = format::count_vps(meta.shape);
  FUZZ_REQUIRE(n.has_value() && n.value() == geometry.n);
  FUZZ_REQUIRE(geometry.lattice_bytes() <= kMostOffset / geometry.n);
  FUZZ_REQUIRE(geometry.cb_begin() <= kMostOffset && geometry.lattice_end() <= kMostOffset);
  FUZZ_REQUIRE(geometry.nb_bytes * geometry.n <= geometry.cb_begin());
  if (geometry.lattice_bytes() > 0) {
    const format::LatticeRow last = format::row_at(geometry, geometry.lattice_bytes() - 1);
    FUZZ_REQUIRE(last.begin < geometry.lattice_bytes() && last.end() >= geometry.lattice_bytes());
    FUZZ_REQUIRE(last.offset_of(geometry.n) <= geometry.lattice_end());
  }
  if (geometry.has_ib()) {
    FUZZ_REQUIRE(geometry.first_superblock * geometry.superblock_bytes >= geometry.lattice_end());
    FUZZ_REQUIRE(meta.end_of_superblocks <= kMostOffset / geometry.superblock_bytes);
  }
  const auto slot = format::encode_meta(meta);
  Bytes again(format::kMetaBytes);
  std::ranges::copy(slot, again.begin() + static_cast<std::ptrdiff_t>(format::meta_offset(meta.sequence)));
  const auto reparsed = format::parse_meta(again);
  FUZZ_REQUIRE(reparsed.has_value() && format::encode_meta(reparsed.value()) == slot);
}

}  // namespace
}  // namespace thalweg::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace thalweg::fuzz;
  Input input(data, size);
  Bytes bytes = input.rest();
  try_meta(bytes);
  thalweg::test::seal_vp_meta(bytes);
  try_meta(bytes);
  return 0;
}
