// Lists in file order: when a list is borrowed or sorted, and how an offset is found.
#include "access/extent_list.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <new>
#include <random>

namespace {

// Allocations of at least this many bytes fail.
std::size_t too_much = std::numeric_limits<std::size_t>::max();

}  // namespace

void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return bytes >= too_much ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
}
void* operator new(std::size_t bytes) {
  void* memory = operator new(bytes, std::nothrow);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace thalweg {
namespace {

constexpr std::uint64_t kLargest = (std::uint64_t{1} << 63) - 1;

// Addresses that are never accessed, one per extent, so that they identify the extent's place in the list.
std::byte* memory_of(std::size_t i) { return reinterpret_cast<std::byte*>(std::uintptr_t{64} * (i + 1)); }

std::vector<Extent> list_of(const std::vector<std::pair<std::uint64_t, std::uint64_t>>& offset_and_bytes) {
  std::vector<Extent> extents;
  for (const auto& [offset, bytes] : offset_and_bytes) extents.push_back({memory_of(extents.size()), bytes, offset});
  return extents;
}

// Random extents below `range`; all offsets are multiples of `align` past `begin`.
std::vector<Extent> random_list(std::size_t n, std::uint64_t begin, std::uint64_t range, std::uint64_t align) {
  std::mt19937_64 random(n + range);
  std::vector<Extent> extents;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t offset = begin + random() % range / align * align;
    extents.push_back({memory_of(i), random() % 8, offset});
  }
  return extents;
}

void expect_in_order(const std::vector<Extent>& given) {
  std::vector<Extent> expected;
  std::copy_if(given.begin(), given.end(), std::back_inserter(expected), [](const Extent& e) { return e.bytes > 0; });
  std::stable_sort(expected.begin(), expected.end(),
                   [](const Extent& a, const Extent& b) { return a.offset < b.offset; });

  auto list = ExtentList::of(given);

  ASSERT_TRUE(list.has_value()) << list.error().message();
  const auto found = list.value().extents();
  EXPECT_TRUE(std::equal(found.begin(), found.end(), expected.begin(), expected.end()));
}

TEST(ExtentList, BorrowsAListThatIsInOrder) {
  const auto given = list_of({{0, 4}, {4, 4}, {10, 1}});

  auto list = ExtentList::of(given);

  ASSERT_TRUE(list.has_value());
  EXPECT_EQ(list.value().extents().data(), given.data());
  EXPECT_TRUE(list.value().disjoint());
  EXPECT_EQ(list.value().summary().runs, 2u);
}

TEST(ExtentList, LeavesOutEmptyExtents) {
  expect_in_order(list_of({{9, 0}, {1, 2}, {0, 0}, {5, 2}, {20, 0}}));
  expect_in_order(list_of({{9, 0}, {5, 2}, {0, 0}, {1, 2}, {20, 0}}));
  expect_in_order(list_of({{9, 0}}));
}

TEST(ExtentList, SortsAndKeepsTheOrderOfEqualOffsets) {
  expect_in_order(list_of({{5, 1}, {3, 1}, {5, 2}, {3, 2}, {5, 3}}));
  expect_in_order(random_list(1000, 0, 300, 1));
}

TEST(ExtentList, SortsLongListsWhateverBitsVary) {
  const std::size_t n = 40000;
  expect_in_order(random_list(n, 0, 3, 1));                                // one bit or two
  expect_in_order(random_list(n, 0, 2048, 1));                             // one pass
  expect_in_order(random_list(n, 0, std::uint64_t{1} << 22, 1));           // two
  expect_in_order(random_list(n, 0, std::uint64_t{1} << 40, 4096));        // three, low bits all zero
  expect_in_order(random_list(n, 12345, std::uint64_t{1} << 40, 4096));    // low bits all alike
  expect_in_order(random_list(n, 0, kLargest - 8, 1));                     // all bits
  expect_in_order(random_list(n, (std::uint64_t{1} << 62) - 50, 100, 1));  // a carry into a high bit
}

TEST(ExtentList, SortsALongListThatRunsBackwards) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> places;
  for (std::uint64_t i = 20000; i-- > 0;) places.emplace_back(i * 512, 512);

  expect_in_order(list_of(places));
}

TEST(ExtentList, SaysWhetherItOverlapsAfterSorting) {
  const auto disjoint = [](const std::vector<Extent>& given) {
    auto list = ExtentList::of(given);
    return list.has_value() && list.value().disjoint();
  };

  EXPECT_TRUE(disjoint({}));
  EXPECT_TRUE(disjoint(list_of({{4, 4}, {0, 4}})));
  EXPECT_FALSE(disjoint(list_of({{3, 4}, {0, 4}})));
  EXPECT_FALSE(disjoint(list_of({{0, 9}, {1, 1}, {3, 1}})));
}

// Compares both look-ups with a byte-by-byte count.
void expect_look_ups(const std::vector<Extent>& given, std::uint64_t file_bytes) {
  auto made = ExtentList::of(given);
  ASSERT_TRUE(made.has_value());
  const ExtentList list = std::move(made).value();
  std::uint64_t before = 0;
  for (std::uint64_t offset = 0; offset <= file_bytes; ++offset) {
    const auto reaches_beyond = [&](const Extent& extent) { return extent.end() > offset; };
    const auto first = std::find_if(list.extents().begin(), list.extents().end(), reaches_beyond);
    ASSERT_EQ(list.first_beyond(offset), static_cast<std::size_t>(first - list.extents().begin())) << offset;
    ASSERT_EQ(list.bytes_before(offset), before) << offset;
    const auto covers = [&](const Extent& extent) { return extent.offset <= offset && offset < extent.end(); };
    if (std::any_of(given.begin(), given.end(), covers)) ++before;
  }
  EXPECT_EQ(list.bytes_before(kLargest), before);
}

TEST(ExtentList, FindsAnOffsetAndTheBytesBeforeIt) {
  expect_look_ups({}, 10);
  expect_look_ups(list_of({{3, 4}}), 10);
  expect_look_ups(list_of({{0, 4}, {4, 1}, {9, 3}}), 14);
  expect_look_ups(list_of({{9, 3}, {0, 4}, {4, 1}}), 14);
}

TEST(ExtentList, CountsAByteOnceWhereItOverlapsItself) {
  expect_look_ups(list_of({{0, 9}, {1, 1}, {3, 2}, {8, 4}, {20, 1}}), 24);
  expect_look_ups(list_of({{2, 3}, {2, 3}, {2, 5}}), 10);
  for (std::size_t n = 1; n < 40; ++n) expect_look_ups(random_list(n, 0, 60, 1), 70);
}

TEST(ExtentList, KeepsItsExtentsWhenItIsMoved) {
  const auto given = list_of({{9, 3}, {0, 4}, {4, 1}});
  auto made = ExtentList::of(given);
  ASSERT_TRUE(made.has_value());

  std::vector<ExtentList> lists;
  lists.push_back(std::move(made).value());
  lists.emplace_back();
  lists.reserve(100);

  EXPECT_EQ(lists[0].extents().size(), 3u);
  EXPECT_EQ(lists[0].extents()[0].offset, 0u);
  EXPECT_EQ(lists[0].bytes_before(10), 6u);
}

TEST(ExtentList, RefusesWhatCannotBeAnAccess) {
  EXPECT_EQ(ExtentList::of(std::vector<Extent>{{nullptr, 1, 0}}).status().code(), Code::invalid_argument);
  EXPECT_EQ(ExtentList::of(list_of({{kLargest, 1}})).status().code(), Code::out_of_range);
}

TEST(ExtentList, SaysThatThereIsNoMemory) {
  for (const std::size_t n : {std::size_t{2000}, std::size_t{40000}}) {
    const auto given = random_list(n, 0, 1 << 20, 1);

    too_much = 8 * n / 2;
    auto list = ExtentList::of(given);
    too_much = std::numeric_limits<std::size_t>::max();

    EXPECT_EQ(list.status().code(), Code::no_memory);
    EXPECT_NE(list.status().message().find(std::to_string(n) + " extents"), std::string::npos);
  }
}

}  // namespace
}  // namespace thalweg
