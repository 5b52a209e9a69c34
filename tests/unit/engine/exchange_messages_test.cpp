// Exchange requests: their runs equal the extents of the list in the window, and the bytes reach their place as inline
// data or through remote memory.
#include "engine/two_phase/exchange_messages.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace thalweg {
namespace {

constexpr std::size_t kMemory = 1 << 16;

RequestHeader header_of(DataPath data_path, bool with_bytes) {
  RequestHeader header;
  header.task = 7;
  header.aggregator = 3;
  header.data_path = data_path;
  header.with_bytes = with_bytes;
  return header;
}

class Requests : public testing::Test {
 protected:
  Requests() : memory_(kMemory) {
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
        place += bytes + (group % 2 == 0 ? random() % 2 : 0);
      }
      offset += random() % 50;
    }
    return extents;
  }
  std::vector<std::byte> memory_;
};

TEST_F(Requests, BringBytesToTheirPlacesAndBack) {
  std::mt19937 random(11);
  int n_empty = 0;
  for (int round = 0; round < 2000; ++round) {
    const auto extents = draw(random);
    const auto list = ExtentList::of(extents);
    ASSERT_TRUE(list.has_value());
    const std::uint64_t begin = random() % 300;
    const FileDomain window{begin, begin + 1 + random() % 1000};
    const DataPath data_path = round % 2 == 0 ? DataPath::inline_data : DataPath::remote_memory;
    std::vector<std::byte> expected(window.end - window.begin, std::byte{0});
    std::uint64_t bytes = 0;
    for (const Extent& extent : extents)
      for (std::uint64_t i = 0; i < extent.bytes; ++i) {
        const std::uint64_t offset = extent.offset + i;
        if (offset < window.begin || offset >= window.end) continue;
        expected[offset - window.begin] = extent.memory[i];
        ++bytes;
      }

    const Bytes sent = make_request(list.value(), window, header_of(data_path, data_path == DataPath::inline_data));
    ASSERT_EQ(sent.empty(), bytes == 0);
    if (sent.empty()) {
      ++n_empty;
      continue;
    }
    const ExchangeRequest request = ExchangeRequest::of(sent);
    ASSERT_EQ(request.header.bytes, bytes);
    ASSERT_EQ(request.whole.size(), sent.size());
    ASSERT_EQ(request.inline_data.size(), data_path == DataPath::inline_data ? bytes : 0);
    std::vector<std::byte> buffer(expected.size(), std::byte{0});
    ASSERT_TRUE(fetch(request, buffer.data(), window.begin).ok());
    ASSERT_TRUE(buffer == expected);
    if (data_path == DataPath::inline_data) continue;

    const std::vector<std::byte> before = memory_;
    const std::uint64_t end = window.begin + random() % 1000;
    for (std::byte& byte : buffer) byte = ~byte;
    ASSERT_TRUE(deliver(request, buffer.data(), window.begin, end).ok());
    for (const Extent& extent : extents)
      for (std::uint64_t i = 0; i < extent.bytes; ++i) {
        const std::uint64_t offset = extent.offset + i;
        const bool new_one = offset >= window.begin && offset < std::min(window.end, end);
        const std::byte was = before[static_cast<std::size_t>(extent.memory - memory_.data()) + i];
        ASSERT_EQ(extent.memory[i], new_one ? ~was : was);
      }
    memory_ = before;
  }
  EXPECT_LT(n_empty, 500);
}

// Small consecutive pieces in memory, more than one message part takes.
TEST_F(Requests, OfSmallRegularPiecesGoTogether) {
  for (const std::uint64_t bytes : {1, 4, 8, 16, 100, 2048, 3000}) {
    const std::uint64_t step = 3 * bytes + 1;
    std::vector<Extent> extents;
    for (std::uint64_t i = 0; (i + 1) * bytes <= kMemory; ++i)
      extents.push_back({memory_.data() + i * bytes, bytes, i * step});
    const auto list = ExtentList::of(extents);
    const FileDomain window{bytes / 2, extents.back().offset + 1};
    const Bytes sent = make_request(list.value(), window, header_of(DataPath::remote_memory, false));
    const ExchangeRequest request = ExchangeRequest::of(sent);
    std::vector<std::byte> buffer(window.end - window.begin, std::byte{0});
    ASSERT_TRUE(fetch(request, buffer.data(), window.begin).ok());
    for_each_in(list.value(), window, [&](const Extent& extent) {
      EXPECT_TRUE(
          std::equal(extent.memory, extent.memory + extent.bytes, buffer.data() + (extent.offset - window.begin)));
      return !HasFailure();
    });
    const std::vector<std::byte> before = memory_;
    std::fill(memory_.begin(), memory_.end(), std::byte{0});
    const std::uint64_t end = extents[extents.size() / 2].offset + (bytes + 1) / 2;
    for (const std::uint64_t to : {end, window.end}) {
      ASSERT_TRUE(deliver(request, buffer.data(), window.begin, to).ok());
      const auto kept = static_cast<std::ptrdiff_t>(
          std::min(kMemory, static_cast<std::size_t>(to == end ? extents.size() / 2 * bytes + (bytes + 1) / 2
                                                               : (extents.size() - 1) * bytes + 1)));
      const auto from = static_cast<std::ptrdiff_t>(bytes / 2);
      EXPECT_TRUE(std::equal(memory_.begin() + from, memory_.begin() + kept, before.begin() + from)) << bytes;
      EXPECT_TRUE(std::all_of(memory_.begin() + kept, memory_.end(), [](std::byte b) { return b == std::byte{0}; }))
          << bytes;
    }
    memory_ = before;
  }
}

std::size_t runs_of(const Bytes& sent) {
  const ExchangeRequest request = ExchangeRequest::of(sent);
  ExtentDecoder reader(request.encoded, request.header.data_path);
  ExtentRun run;
  std::size_t n = 0;
  while (reader.next(run)) ++n;
  return n;
}

TEST_F(Requests, OfARegularRowAreOneSeries) {
  std::vector<Extent> extents;
  for (std::uint64_t i = 0; i < 1000; ++i) extents.push_back({memory_.data() + 16 * i, 8, 100 * i});
  const auto list = ExtentList::of(extents);

  EXPECT_EQ(runs_of(make_request(list.value(), {0, 100000}, header_of(DataPath::remote_memory, false))), 1u);
  EXPECT_EQ(runs_of(make_request(list.value(), {104, 99904}, header_of(DataPath::remote_memory, false))), 3u)
      << "the first and the last are cut";
}

// The place in memory matters only to a receiver that fetches remote memory.
TEST_F(Requests, OfScatteredMemoryAreOneSeriesWhenEnclosed) {
  std::vector<Extent> extents;
  for (std::uint64_t i = 0; i < 1000; ++i) extents.push_back({memory_.data() + (16 * i * i) % 60000, 8, 100 * i});
  const auto list = ExtentList::of(extents);

  EXPECT_EQ(runs_of(make_request(list.value(), {0, 100000}, header_of(DataPath::inline_data, true))), 1u);
  EXPECT_GE(runs_of(make_request(list.value(), {0, 100000}, header_of(DataPath::remote_memory, false))), 500u);
}

TEST_F(Requests, DescribeSmallPiecesInFewBytes) {
  std::mt19937 random(3);
  std::vector<Extent> extents;
  std::uint64_t offset = std::uint64_t{1} << 40;
  for (int i = 0; i < 1000; ++i, offset += 8 + random() % 100) extents.push_back({memory_.data() + 8 * i, 8, offset});
  const auto list = ExtentList::of(extents);

  const Bytes sent = make_request(list.value(), {0, std::uint64_t{1} << 62}, header_of(DataPath::inline_data, false));

  EXPECT_LT(sent.size(), sizeof(RequestHeader) + 3 * 1000 + 20);
}

TEST_F(Requests, OfNoByteAreEmpty) {
  const auto list = ExtentList::of({});

  EXPECT_TRUE(make_request(list.value(), {0, 100}, header_of(DataPath::inline_data, true)).empty());
}

// As a node relay joins them.
TEST_F(Requests, ComeOneBehindTheOther) {
  std::vector<Extent> extents;
  for (std::uint64_t i = 0; i < 50; ++i) extents.push_back({memory_.data() + 100 * i, 1 + i, 60 * i});
  const auto list = ExtentList::of(extents);
  Bytes message;
  std::uint64_t bytes = 0;
  for (std::uint32_t i = 0; i < 10; ++i) {
    RequestHeader header = header_of(DataPath::inline_data, i % 2 == 0);
    header.task = 100 + i;
    const Bytes one = make_request(list.value(), {300 * i, 300 * (i + 1)}, header, sizeof(ReplyHeader) + 100);
    message.insert(message.end(), one.begin(), one.end());
  }
  std::int64_t n = 0;
  for_each_of<ExchangeRequest>(message, [&](const ExchangeRequest& request) {
    EXPECT_EQ(request.header.task, 100 + n);
    EXPECT_EQ(request.inline_data.size(), n % 2 == 0 ? request.header.bytes : 0);
    EXPECT_EQ(request.header.relayed, request.header.bytes <= 100);
    bytes += request.header.bytes;
    ++n;
  });
  EXPECT_EQ(n, 10);
  EXPECT_EQ(bytes, 50u * 51 / 2);
}

}  // namespace
}  // namespace thalweg
