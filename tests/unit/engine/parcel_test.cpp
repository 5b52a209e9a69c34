// Parcels: series of extents are what the list has in the window, and bytes come to where they belong, enclosed or
// fetched.
#include "engine/parcel.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace thalweg {
namespace {

constexpr std::size_t kMemory = 1 << 16;

class Parcels : public testing::Test {
 protected:
  Parcels() : memory_(kMemory) {
    for (std::size_t i = 0; i < kMemory; ++i) memory_[i] = static_cast<std::byte>(i * 7 + i / 256);
  }
  // Disjoint extents in file order, some of them regular.
  std::vector<Extent> draw(std::mt19937& random) {
    std::vector<Extent> extents;
    std::uint64_t offset = random() % 100;
    std::uint64_t place = 0;
    for (int group = 0; group < 4; ++group) {
      const std::uint64_t bytes = 1 + random() % 60;
      const std::uint64_t step = bytes + random() % 3 * 10;
      for (std::uint64_t i = random() % 8; i > 0; --i) {
        extents.push_back({memory_.data() + place, bytes, offset});
        offset += step;
        place += bytes + random() % 2;
      }
      offset += random() % 50;
    }
    return extents;
  }
  std::vector<std::byte> memory_;
};

TEST_F(Parcels, BringBytesToTheirPlacesAndBack) {
  std::mt19937 random(11);
  for (int round = 0; round < 2000; ++round) {
    const auto extents = draw(random);
    const auto list = ExtentList::of(extents);
    ASSERT_TRUE(list.has_value());
    const std::uint64_t begin = random() % 300;
    const FileDomain window{begin, begin + 1 + random() % 1000};
    const auto series = series_in(list.value(), window);
    const Carriage carriage = round % 2 == 0 ? Carriage::enclosed : Carriage::fetched;
    const Bytes sent = make_parcel(series, carriage, carriage == Carriage::enclosed);
    const Parcel parcel = Parcel::of(sent);

    std::vector<std::byte> buffer(window.end - window.begin, std::byte{0});
    ASSERT_TRUE(fetch(parcel, buffer.data(), window.begin).ok());

    std::vector<std::byte> expected(buffer.size(), std::byte{0});
    std::uint64_t bytes = 0;
    for (const Extent& extent : extents)
      for (std::uint64_t i = 0; i < extent.bytes; ++i) {
        const std::uint64_t offset = extent.offset + i;
        if (offset < window.begin || offset >= window.end) continue;
        expected[offset - window.begin] = extent.memory[i];
        ++bytes;
      }
    ASSERT_EQ(bytes_of(series), bytes);
    ASSERT_TRUE(buffer == expected);

    const std::vector<std::byte> before = memory_;
    const std::uint64_t end = window.begin + random() % 1000;
    for (std::byte& byte : buffer) byte = ~byte;
    ASSERT_TRUE(deliver(parcel, buffer.data(), window.begin, end).ok());
    for (const Extent& extent : extents)
      for (std::uint64_t i = 0; i < extent.bytes; ++i) {
        const std::uint64_t offset = extent.offset + i;
        const bool new_one = offset >= window.begin && offset < std::min(window.end, end);
        const std::byte was = before[static_cast<std::size_t>(extent.memory - memory_.data()) + i];
        ASSERT_EQ(extent.memory[i], new_one ? ~was : was);
      }
    memory_ = before;
  }
}

TEST_F(Parcels, OfARegularRowAreOneSeries) {
  std::vector<Extent> extents;
  for (std::uint64_t i = 0; i < 1000; ++i) extents.push_back({memory_.data() + 16 * i, 8, 100 * i});
  const auto list = ExtentList::of(extents);

  EXPECT_EQ(series_in(list.value(), {0, 100000}).size(), 1u);
  EXPECT_EQ(series_in(list.value(), {104, 99904}).size(), 3u) << "the first and the last are cut";
}

TEST_F(Parcels, OfNoByteHaveNoSeries) {
  const auto list = ExtentList::of({});

  EXPECT_TRUE(series_in(list.value(), {0, 100}).empty());
  EXPECT_TRUE(Parcel::of(make_parcel({}, Carriage::enclosed, true)).series.empty());
}

}  // namespace
}  // namespace thalweg
