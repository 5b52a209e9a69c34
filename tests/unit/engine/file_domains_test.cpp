// File domains: equal to the byte for disjoint lists, aligned to blocks where that costs at most a block, and always a
// complete cover.
#include "engine/plan/file_domains.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <random>

namespace thalweg {
namespace {

std::byte* const kMemory = reinterpret_cast<std::byte*>(std::uintptr_t{64});  // never accessed

// The lists of some tasks, and their bytes in a domain.
class Lists {
 public:
  void add(std::vector<Extent> extents) {
    given_.push_back(std::make_unique<std::vector<Extent>>(std::move(extents)));
    auto list = ExtentList::of(*given_.back());
    ASSERT_TRUE(list.has_value()) << list.error().message();
    lists_.push_back(std::make_unique<ExtentList>(std::move(list).value()));
    pointers_.push_back(lists_.back().get());
  }
  std::vector<FileDomain> cut(std::size_t workers, std::uint64_t block) const {
    return cut_domains(pointers_, workers, block);
  }
  std::uint64_t bytes_in(const FileDomain& domain) const {
    std::uint64_t bytes = 0;
    for (const ExtentList* list : pointers_) bytes += list->bytes_before(domain.end) - list->bytes_before(domain.begin);
    return bytes;
  }

 private:
  std::vector<std::unique_ptr<std::vector<Extent>>> given_;
  std::vector<std::unique_ptr<ExtentList>> lists_;
  std::vector<const ExtentList*> pointers_;
};

// Deals disjoint extents with random holes to `tasks` tasks. Returns the total of bytes.
std::uint64_t deal(Lists& lists, std::size_t tasks, std::mt19937& random, std::uint64_t longest) {
  std::vector<std::vector<Extent>> of_task(tasks);
  std::uint64_t at = random() % 10000;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < 200; ++i) {
    const std::uint64_t length = 1 + random() % longest;
    of_task[random() % tasks].push_back({kMemory, length, at});
    bytes += length;
    at += length + (random() % 3 == 0 ? random() % (3 * longest) : 0);
  }
  for (auto& extents : of_task) lists.add(std::move(extents));
  return bytes;
}

TEST(FileDomains, HaveSharesThatDifferByOneByteWhereNothingIsRounded) {
  std::mt19937 random(1);
  for (std::size_t workers = 1; workers <= 40; ++workers) {
    Lists lists;
    const std::uint64_t bytes = deal(lists, 1 + workers % 5, random, 1000);

    const auto domains = lists.cut(workers, 1);

    ASSERT_EQ(domains.size(), workers);
    for (const FileDomain& domain : domains) {
      EXPECT_GE(lists.bytes_in(domain), bytes / workers);
      EXPECT_LE(lists.bytes_in(domain), bytes / workers + 1);
    }
  }
}

TEST(FileDomains, AreEvenToABlockOnBordersOfBlocks) {
  std::mt19937 random(2);
  for (std::size_t workers = 2; workers <= 10; ++workers) {
    Lists lists;
    const std::uint64_t bytes = deal(lists, 3, random, 100000);

    const auto domains = lists.cut(workers, 4096);

    for (std::size_t i = 0; i < workers; ++i) {
      EXPECT_LE(lists.bytes_in(domains[i]), bytes / workers + 4096);
      EXPECT_GE(lists.bytes_in(domains[i]) + 4096, bytes / workers);
      if (i > 0) {
        EXPECT_EQ(domains[i].begin % 4096, 0u);
      }
    }
  }
}

TEST(FileDomains, FollowEachOtherFromTheFirstByteToTheLast) {
  Lists lists;
  lists.add({{kMemory, 100, 50}, {kMemory, 100, 1000}});
  lists.add({{kMemory, 100, 500}});

  const auto domains = lists.cut(3, 1);

  ASSERT_EQ(domains.size(), 3u);
  EXPECT_EQ(domains[0].begin, 50u);
  EXPECT_EQ(domains[0].end, 150u);
  EXPECT_EQ(domains[1].begin, 150u);
  EXPECT_EQ(domains[1].end, 600u);
  EXPECT_EQ(domains[2].end, 1100u);
}

TEST(FileDomains, AreEmptyAtTheEndWhenThereIsLessThanAByteForEach) {
  Lists lists;
  lists.add({{kMemory, 2, 7}});

  const auto domains = lists.cut(4, 4096);

  ASSERT_EQ(domains.size(), 4u);
  EXPECT_TRUE(!domains[0].empty() && !domains[1].empty() && domains[2].empty() && domains[3].empty());
}

TEST(FileDomains, KeepABorderThatRoundingWouldMakeUneven) {
  Lists lists;
  for (int i = 0; i < 50; ++i) lists.add({{kMemory, 8000, 0}});  // one block more or less is 50 blocks of work

  const auto domains = lists.cut(2, 4096);

  EXPECT_EQ(domains[0].end, 4000u);
}

TEST(FileDomains, EndAtTheBlockThatLeavesSharesMoreEven) {
  Lists lists;
  lists.add({{kMemory, 10000, 0}, {kMemory, 10000, 11000}});

  const auto domains = lists.cut(2, 4096);

  EXPECT_EQ(domains[0].end, 12288u);  // 11288 bytes; 8192 would differ more from 10000
}

TEST(FileDomains, OfNothingAreEmpty) {
  const Lists none;
  Lists empty;
  empty.add({});
  empty.add({{nullptr, 0, 9}});

  for (const Lists* lists : {&none, static_cast<const Lists*>(&empty)}) {
    const auto domains = lists->cut(3, 4096);
    ASSERT_EQ(domains.size(), 3u);
    for (const FileDomain& domain : domains) EXPECT_TRUE(domain.empty());
  }
  EXPECT_TRUE(empty.cut(0, 4096).empty());
}

TEST(FileDomains, ReachTheLargestOffsetAndSumsBeyondIt) {
  constexpr std::uint64_t largest = (std::uint64_t{1} << 63) - 1;
  Lists lists;
  for (int i = 0; i < 5; ++i) lists.add({{kMemory, largest, 0}});  // more than 2^64 bytes in total

  const auto domains = lists.cut(2, 1);

  EXPECT_EQ(domains[0].end, largest / 2 + 1);
  EXPECT_EQ(domains[1].end, largest);
  EXPECT_EQ(lists.cut(2, std::uint64_t{1} << 63)[1].end, largest);
  EXPECT_EQ(lists.cut(2, 0)[0].end, largest / 2 + 1);
}

}  // namespace
}  // namespace thalweg
