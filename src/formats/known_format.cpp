#include "formats/known_format.hpp"

#include <algorithm>

#include "base/fields.hpp"
#include "multifile/format/header.hpp"
#include "vpfile/format/directory.hpp"
#include "vpfile/format/meta.hpp"
#include "vpfile/format/superblock.hpp"

namespace thalweg::format {

namespace {

std::uint32_t load_big(ByteView four) {
  std::uint32_t number = 0;
  for (const std::byte byte : four.first(4)) number = number << 8 | std::to_integer<std::uint32_t>(byte);
  return number;
}

// "CDF", a version, the number of records, then the list of dimensions: its tag is 10, or 0 where there are none.
bool begins_as_netcdf(ByteView bytes) {
  constexpr std::size_t kLeast = 32;
  if (bytes.size() < kLeast || !begins_with(bytes, "CDF")) return false;
  const auto version = std::to_integer<int>(bytes[3]);
  if (version != 1 && version != 2 && version != 5) return false;
  const std::uint32_t tag = load_big(bytes.subspan(version == 5 ? 12 : 8));
  return tag == 0 || tag == 10;
}

// "sion", a palindromic word that shows the byte order, and at 16 the version.
bool begins_as_sionlib(ByteView bytes) {
  constexpr std::size_t kLeast = 32;
  constexpr std::uint32_t kMostVersion = 99;
  if (bytes.size() < kLeast || !begins_with(bytes, "sion")) return false;
  const ByteView order = bytes.subspan(4, 4);
  const bool is_word = order[0] == order[3] && order[1] == order[2] &&
                       std::ranges::all_of(order, [](std::byte byte) { return byte <= std::byte{1}; });
  const ByteView field = bytes.subspan(16);
  const std::uint32_t version = order[0] == std::byte{1} ? load_big(field) : load_le<std::uint32_t>(field);
  return is_word && version >= 1 && version <= kMostVersion;
}

}  // namespace

bool begins_as_hdf5(ByteView bytes) { return begins_with(bytes, "\x89HDF\r\n\x1a\n"); }

KnownFormat recognise(ByteView begin) {
  if (begins_as_multifile(begin)) return KnownFormat::multifile;
  if (begins_as_superblock(begin)) return KnownFormat::vpfile;
  if (begins_as_meta(begin) || begins_as_directory(begin)) return KnownFormat::vp_side;
  if (begin.size() > kMetaSlotStep && begins_as_meta(begin.subspan(kMetaSlotStep))) return KnownFormat::vp_side;
  if (begins_as_netcdf(begin)) return KnownFormat::netcdf;
  if (begins_as_sionlib(begin)) return KnownFormat::sionlib;
  if (begins_as_hdf5(begin)) return KnownFormat::hdf5;
  for (std::uint64_t at = kFirstUserBlock; at < begin.size(); at *= 2)
    if (begins_as_hdf5(begin.subspan(at))) return KnownFormat::hdf5;
  return KnownFormat::none;
}

const char* name_of(KnownFormat format) {
  static constexpr const char* kNames[] = {
      "no known format", "a multifile", "a vpfile", "a side file of a vpfile", "HDF5", "NetCDF", "SIONlib"};
  return kNames[static_cast<std::size_t>(format)];
}

}  // namespace thalweg::format
