#include "vpfile/format/geometry.hpp"

#include <fmt/core.h>

#include <string>

#include "base/checked_math.hpp"
#include "base/fields.hpp"
#include "base/size_units.hpp"

namespace thalweg::format {

namespace {

constexpr const char* kGeometryName = "vpfile";

constexpr std::uint64_t round_up(std::uint64_t x, std::uint64_t to) { return (x + to - 1) / to * to; }

std::uint64_t rounds(const VpGeometry& geometry) {
  return geometry.buffer_bytes == 0 ? 0 : (geometry.cb_bytes + geometry.buffer_bytes - 1) / geometry.buffer_bytes;
}

// Whether n·(what all streams have in the lattice), rounded up, stays below 2^63.
bool fits(const VpGeometry& geometry) {
  std::uint64_t all = 0;
  std::uint64_t cb = 0;
  if (mul_overflow(geometry.n, geometry.nb_bytes, &all)) return false;
  if (add_overflow(geometry.cb_bytes, geometry.buffer_bytes, &cb) || mul_overflow(geometry.n, cb, &cb)) return false;
  if (add_overflow(all, cb, &all)) return false;
  return all <= kMostOffset - kMostSuperblock - kCbAlignment;
}

Status check_ib(const VpGeometry& geometry) {
  const std::uint64_t block = geometry.block_bytes;
  const std::uint64_t superblock = geometry.superblock_bytes;
  if (!is_power_of_two(block) || block < kLeastBlock || block > kMostBlock)
    return bad_field(kGeometryName, "block bytes", block, "a power of two from 16 to 1048576");
  if (!is_power_of_two(superblock) || superblock < kLeastSuperblock || superblock > kMostSuperblock ||
      superblock < kBlocksPerSuperblock * block)
    return bad_field(kGeometryName, "superblock bytes", superblock,
                     "a power of two from 4096 to 16777216, and at least 8 blocks,");
  if (geometry.pointers < 1 || geometry.pointers > kMostPointers)
    return bad_field(kGeometryName, "pointers of an entry", geometry.pointers, "1 to 64");
  const std::uint64_t first = round_up(geometry.lattice_end(), superblock) / superblock;
  if (geometry.first_superblock != first)
    return bad_field(kGeometryName, "first superblock", geometry.first_superblock, std::to_string(first));
  return {};
}

}  // namespace

std::uint64_t VpGeometry::cb_begin() const {
  return buffer_bytes == 0 ? nb_bytes * n : round_up(nb_bytes * n, kCbAlignment);
}

std::uint64_t VpGeometry::lattice_end() const {
  return cb_bytes == 0 ? nb_bytes * n : cb_begin() + n * buffer_bytes * rounds(*this);
}

Status check_geometry(const VpGeometry& geometry) {
  if (geometry.n < 1 || geometry.n > kMostVps)
    return bad_field(kGeometryName, "virtual processors", geometry.n, "1 to 2^40");
  const bool records =
      geometry.record_bytes == 0 ? geometry.nb_bytes == 0 : geometry.nb_bytes % geometry.record_bytes == 0;
  if (!records)
    return bad_field(kGeometryName, "bytes of the NB segment", geometry.nb_bytes,
                     fmt::format("a multiple of {}", geometry.record_bytes));
  if (geometry.buffer_bytes == 0 && geometry.cb_bytes != 0)
    return bad_field(kGeometryName, "bytes of the CB segment", geometry.cb_bytes, "0");
  if (!fits(geometry)) return bad_field(kGeometryName, "virtual processors", geometry.n, "what ends below 2^63");
  if (geometry.has_ib()) return check_ib(geometry);
  return check_zero(kGeometryName, {{"superblock bytes", geometry.superblock_bytes},
                                    {"pointers of an entry", geometry.pointers},
                                    {"first superblock", geometry.first_superblock}});
}

Status check_zero(const char* structure, std::initializer_list<std::pair<const char*, std::uint64_t>> fields) {
  for (const auto& [name, value] : fields)
    if (value != 0) return bad_field(structure, name, value, "0");
  return {};
}

LatticeRow row_at(const VpGeometry& geometry, std::uint64_t at) {
  const bool nb = geometry.buffer_bytes == 0 || at < geometry.nb_bytes;
  const std::uint64_t base = nb ? 0 : geometry.nb_bytes;
  const std::uint64_t bytes = nb ? geometry.record_bytes : geometry.buffer_bytes;
  const std::uint64_t number = (at - base) / bytes;
  const std::uint64_t begin = nb ? 0 : geometry.cb_begin();
  return {base + number * bytes, bytes, begin + number * geometry.n * bytes};
}

}  // namespace thalweg::format
