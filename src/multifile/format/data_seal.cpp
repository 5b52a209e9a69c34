#include "multifile/format/data_seal.hpp"

#include <algorithm>
#include <cstring>

#include "base/crc32c.hpp"

namespace thalweg::format {

namespace {

// The last byte of the sector that is not zero: how many bytes end there (0: all are zero), and the eight up to it.
struct SectorEnd {
  std::uint16_t bytes = 0;
  std::array<std::byte, 8> last{};
};

SectorEnd end_of(ByteView sector) {
  std::size_t bytes = sector.size();
  while (bytes > 0 && sector[bytes - 1] == std::byte{0}) --bytes;
  SectorEnd end{static_cast<std::uint16_t>(bytes), {}};
  const std::size_t n = std::min(bytes, end.last.size());
  std::copy_n(sector.begin() + static_cast<std::ptrdiff_t>(bytes - n), n,
              end.last.end() - static_cast<std::ptrdiff_t>(n));
  return end;
}

constexpr std::size_t kEndBytes = 10;

// Sectors of `bytes`, the last of which may be incomplete, behind those whose seal is `before`.
std::uint32_t seal_sectors(ByteView bytes, std::uint32_t before) {
  std::array<std::byte, 128 * kEndBytes> ends;
  while (!bytes.empty()) {
    std::size_t used = 0;
    for (; !bytes.empty() && used < ends.size(); used += kEndBytes) {
      const ByteView sector = bytes.first(std::min<std::size_t>(bytes.size(), kSectorBytes));
      const SectorEnd end = end_of(sector);
      store_le(ByteSpan(ends).subspan(used), end.bytes);
      std::memcpy(ends.data() + used + sizeof end.bytes, end.last.data(), end.last.size());
      bytes = bytes.subspan(sector.size());
    }
    before = crc32c(ByteView(ends).first(used), before);
  }
  return before;
}

}  // namespace

void DataSeal::add(ByteView bytes) {
  if (kind_ == Checksum::crc32c) {
    crc_ = crc32c(bytes, crc_);
    return;
  }
  if (in_sector_ > 0) {
    const std::size_t n = std::min(bytes.size(), kSectorBytes - in_sector_);
    std::memcpy(sector_begun_.data() + in_sector_, bytes.data(), n);
    in_sector_ += n;
    bytes = bytes.subspan(n);
    if (in_sector_ < kSectorBytes) return;
    crc_ = seal_sectors(sector_begun_, crc_);
    in_sector_ = 0;
  }
  const std::size_t whole = bytes.size() / kSectorBytes * kSectorBytes;
  crc_ = seal_sectors(bytes.first(whole), crc_);
  in_sector_ = bytes.size() - whole;
  if (in_sector_ > 0) std::memcpy(sector_begun_.data(), bytes.data() + whole, in_sector_);
}

std::uint32_t DataSeal::value() const {
  if (kind_ == Checksum::crc32c) return crc_;
  return seal_sectors(ByteView(sector_begun_).first(in_sector_), crc_);
}

std::uint32_t data_seal(Checksum kind, ByteView bytes) {
  return kind == Checksum::crc32c ? crc32c(bytes) : seal_sectors(bytes, 0);
}

}  // namespace thalweg::format
