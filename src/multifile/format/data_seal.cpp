#include "multifile/format/data_seal.hpp"

#include <algorithm>
#include <cstring>

#include "base/crc32c.hpp"

namespace thalweg::format {

namespace {

// How many bytes end with the last one of the sector that is not zero (0: all are zero), and the eight bytes up to it.
constexpr std::size_t kLastBytes = 8;
constexpr std::size_t kEndBytes = sizeof(std::uint16_t) + kLastBytes;

void put_end(ByteView sector, ByteSpan out) {
  std::size_t bytes = sector.size();
  while (bytes > 0 && sector[bytes - 1] == std::byte{0}) --bytes;
  store_le(out, static_cast<std::uint16_t>(bytes));
  const std::size_t n = std::min(bytes, kLastBytes);
  const auto last = out.subspan(sizeof(std::uint16_t), kLastBytes);
  std::fill_n(last.begin(), kLastBytes - n, std::byte{0});
  std::memcpy(last.data() + kLastBytes - n, sector.data() + bytes - n, n);
}

// The seal of the sectors of `bytes`, of which the last may be incomplete, behind sectors whose seal is `before`.
std::uint32_t seal_sectors(ByteView bytes, std::uint32_t before) {
  std::array<std::byte, 128 * kEndBytes> ends;
  while (!bytes.empty()) {
    std::size_t used = 0;
    for (; !bytes.empty() && used < ends.size(); used += kEndBytes) {
      const ByteView sector = bytes.first(std::min<std::size_t>(bytes.size(), kSectorBytes));
      put_end(sector, ByteSpan(ends).subspan(used, kEndBytes));
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
