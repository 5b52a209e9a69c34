// The seal of the data of a chunk, by which a reader sees whether all of it reached the storage: section 4.1 of the
// format document.
//
// CRC32C covers every byte. Without checksums the *arrival seal* proves only that every sector reached the storage, by
// the last bytes of each: a sector is written once, from its front, so its last bytes are there only if all of it is.
// That costs an eighth of the memory traffic of a checksum.
#pragma once

#include <array>

#include "multifile/format/header.hpp"

namespace thalweg::format {

inline constexpr std::uint64_t kSectorBytes = 512;

class DataSeal {
 public:
  explicit DataSeal(Checksum kind) : kind_(kind) {}

  // Adds the next bytes of a granule, which begins on a multiple of the sector.
  void add(ByteView bytes);
  // The seal of all bytes since the beginning of the granule.
  std::uint32_t value() const;
  void begin_granule() { *this = DataSeal(kind_); }

 private:
  Checksum kind_;
  std::uint32_t crc_ = 0;                             // of complete sectors
  std::size_t in_sector_ = 0;                         // bytes of the incomplete sector
  std::array<std::byte, kSectorBytes> sector_begun_;  // these bytes
};

// The seal of a whole granule, or of its front.
std::uint32_t data_seal(Checksum kind, ByteView bytes);

}  // namespace thalweg::format
