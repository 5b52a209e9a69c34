// Compression round-trips, and decompression of damaged bytes never writes outside its buffer.
#include "base/compress.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace thalweg {

inline void PrintTo(Compression kind, std::ostream* out) { *out << (kind == Compression::lz4 ? "lz4" : "zstd"); }

namespace {

using Bytes = std::vector<std::byte>;

class Compress : public testing::TestWithParam<Compression> {};

Bytes text_like(std::size_t bytes, unsigned seed) {
  std::mt19937 random(seed);
  Bytes out(bytes);
  for (std::size_t i = 0; i < bytes; ++i) out[i] = static_cast<std::byte>('a' + random() % 3 + i / 100 % 7);
  return out;
}

Bytes compressed(Compression kind, const Bytes& from) {
  Bytes to(compressed_bound(kind, from.size()));
  auto got = compress(kind, 0, from, to);
  EXPECT_TRUE(got.has_value());
  EXPECT_GT(got.value(), 0u);
  to.resize(got.value());
  to.shrink_to_fit();
  return to;
}

TEST_P(Compress, GivesBackWhatWentIn) {
  for (const std::size_t bytes : {1u, 2u, 100u, 4096u, 100000u}) {
    const Bytes from = text_like(bytes, 3);
    const Bytes packed = compressed(GetParam(), from);
    Bytes back(bytes);

    const Status status = decompress(GetParam(), packed, back);

    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(back, from);
  }
}

TEST_P(Compress, SaysZeroWhenTheResultDoesNotFit) {
  const Bytes from = text_like(10000, 4);
  Bytes to(20);

  auto got = compress(GetParam(), 0, from, to);

  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(got.value(), 0u);
}

TEST_P(Compress, RefusesAnotherSizeThanTheTrueOne) {
  const Bytes packed = compressed(GetParam(), text_like(5000, 5));
  Bytes shorter(4999), longer(5001);

  EXPECT_EQ(decompress(GetParam(), packed, shorter).code(), Code::corrupt_file);
  EXPECT_EQ(decompress(GetParam(), packed, longer).code(), Code::corrupt_file);
}

TEST_P(Compress, RefusesBytesBehindTheEndAndMissingOnes) {
  Bytes packed = compressed(GetParam(), text_like(5000, 6));
  Bytes back(5000);

  EXPECT_EQ(decompress(GetParam(), ByteView(packed).first(packed.size() - 1), back).code(), Code::corrupt_file);
  EXPECT_EQ(decompress(GetParam(), {}, back).code(), Code::corrupt_file);
  packed.resize(packed.size() * 2);
  EXPECT_EQ(decompress(GetParam(), packed, back).code(), Code::corrupt_file);
}

TEST_P(Compress, SurvivesAnyDamage) {
  const Bytes good = compressed(GetParam(), text_like(600, 7));
  std::mt19937 random(8);
  for (int round = 0; round < 3000; ++round) {
    Bytes bad = good;
    for (int i = 0; i < 1 + round % 4; ++i) bad[random() % bad.size()] = static_cast<std::byte>(random());
    Bytes back(600);

    (void)decompress(GetParam(), bad, back);  // the address sanitizer finds any error
  }
}

TEST(CompressZstd, TakesOneFrameOnly) {
  const Bytes from = text_like(300, 9);
  const Bytes one = compressed(Compression::zstd, from);
  Bytes two = one;
  two.insert(two.end(), one.begin(), one.end());
  Bytes back(600);

  EXPECT_EQ(decompress(Compression::zstd, two, back).code(), Code::corrupt_file);
}

TEST(CompressUnknown, IsRefusedByItsNumber) {
  Bytes back(10);

  const Status status = decompress(Compression{7}, Bytes(5), back);

  EXPECT_EQ(status.code(), Code::unsupported_version);
  EXPECT_NE(status.message().find("codec 7"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Kinds, Compress, testing::Values(Compression::lz4, Compression::zstd),
                         [](const auto& kind) { return kind.param == Compression::lz4 ? "lz4" : "zstd"; });

}  // namespace
}  // namespace thalweg
