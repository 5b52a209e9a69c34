// Seals of data: detect data that never reached storage, for any division of the data into writes.
#include "multifile/format/data_seal.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "base/crc32c.hpp"

namespace thalweg::format {
namespace {

using Bytes = std::vector<std::byte>;

Bytes any_bytes(std::size_t n, std::mt19937_64& random) {
  Bytes bytes(n);
  for (std::byte& b : bytes) b = std::byte{static_cast<unsigned char>(random())};
  return bytes;
}

TEST(DataSeal, OfOnePieceIsThatOfMany) {
  std::mt19937_64 random(1);
  for (const Checksum kind : {Checksum::none, Checksum::crc32c}) {
    for (int i = 0; i < 200; ++i) {
      const Bytes data = any_bytes(random() % 5000, random);
      DataSeal seal(kind);
      for (std::size_t at = 0; at < data.size();) {
        const std::size_t n = std::min<std::size_t>(data.size() - at, 1 + random() % 700);
        seal.add(ByteView(data).subspan(at, n));
        at += n;
        EXPECT_EQ(seal.value(), data_seal(kind, ByteView(data).first(at)));
      }
      seal.begin_granule();
      EXPECT_EQ(seal.value(), data_seal(kind, {}));
    }
  }
}

TEST(DataSeal, WithChecksumIsTheirCrc) {
  std::mt19937_64 random(2);
  const Bytes data = any_bytes(3000, random);

  EXPECT_EQ(data_seal(Checksum::crc32c, data), crc32c(data));
}

// A sector may have its bytes of any earlier moment: a shorter front, then zeros.
TEST(DataSeal, FindsEverySectorThatHasNotArrived) {
  std::mt19937_64 random(3);
  for (const Checksum kind : {Checksum::none, Checksum::crc32c}) {
    for (int i = 0; i < 2000; ++i) {
      Bytes data = any_bytes(1 + random() % 3000, random);
      if (i % 3 == 0)
        for (std::byte& b : data) b = std::byte{static_cast<unsigned char>(random() % 50 == 0)};  // mostly zeros
      const std::uint32_t seal = data_seal(kind, data);
      Bytes left = data;
      const std::size_t sector = random() % data.size() / kSectorBytes * kSectorBytes;
      const std::size_t end = std::min<std::size_t>(sector + kSectorBytes, data.size());
      const std::size_t arrived = sector + random() % (end - sector);
      std::fill(left.begin() + static_cast<std::ptrdiff_t>(arrived), left.begin() + static_cast<std::ptrdiff_t>(end),
                std::byte{0});
      EXPECT_EQ(data_seal(kind, left) == seal, left == data);
    }
  }
}

TEST(DataSeal, OfZerosIsNotThatOfFewerZeros) {
  const Bytes zeros(5000);

  EXPECT_NE(data_seal(Checksum::none, ByteView(zeros).first(512)),
            data_seal(Checksum::none, ByteView(zeros).first(513)));
  EXPECT_EQ(data_seal(Checksum::none, ByteView(zeros).first(1)), data_seal(Checksum::none, ByteView(zeros).first(512)))
      << "they are the same on storage";
}

}  // namespace
}  // namespace thalweg::format
