// The plan that tw_storage_explain reports for an access.
#include "sharedfile/explain.hpp"
#include "sim/memory_backend.hpp"

#include <gtest/gtest.h>

namespace thalweg {
namespace {

RegularAccess access_of(std::uint64_t tasks, std::uint64_t extents, std::uint64_t bytes, std::uint64_t stride) {
  RegularAccess access;
  access.tasks = tasks;
  access.extents = extents;
  access.bytes = bytes;
  access.stride = stride;
  return access;
}

GroupAccess all(const RegularAccess& access) {
  const auto found = group_access_of(access);
  return found.has_value() ? found.value() : GroupAccess{};
}

TEST(Explain, WithoutStrideTasksAreOneBehindTheOther) {
  const GroupAccess found = all(access_of(4, 10, 100, 0));

  EXPECT_EQ(found.shape(), Shape::contiguous);
  EXPECT_EQ(found.bytes, 4000u);
  EXPECT_EQ(found.end, 4000u);
  EXPECT_EQ(found.runs, 4u);
}

TEST(Explain, TasksTakeTurnsWhereAStrideHasRoom) {
  const GroupAccess found = all(access_of(4, 10, 100, 400));

  EXPECT_EQ(found.shape(), Shape::interleaved);
  EXPECT_EQ(found.end, 4000u);
  EXPECT_EQ(found.runs, 40u);
}

TEST(Explain, ElseTheyAreStrided) {
  const GroupAccess found = all(access_of(4, 10, 100, 300));

  EXPECT_EQ(found.shape(), Shape::strided);
  EXPECT_EQ(found.end, 39u * 300 + 100);
}

TEST(Explain, TasksMayReadTheSame) {
  RegularAccess access = access_of(3, 1, 100, 0);
  access.task_distance = 50;

  EXPECT_EQ(all(access).shape(), Shape::overlapping);
}

TEST(Explain, NoBytesAreNoAccess) {
  EXPECT_EQ(all(access_of(4, 0, 100, 0)).shape(), Shape::empty);
  EXPECT_EQ(all(access_of(4, 10, 0, 0)).shape(), Shape::empty);
}

TEST(Explain, RefusesWhatCannotBe) {
  constexpr std::uint64_t kHuge = std::uint64_t{1} << 62;
  const auto code = [](const RegularAccess& access) { return group_access_of(access).status().code(); };
  EXPECT_EQ(code(access_of(0, 1, 1, 0)), Code::invalid_argument);
  EXPECT_EQ(code(access_of(1'000'001, 1, 1, 0)), Code::invalid_argument);
  EXPECT_EQ(code(access_of(1, 2, 100, 99)), Code::invalid_argument);
  EXPECT_EQ(code(access_of(1, 3, kHuge, 0)), Code::out_of_range);
  EXPECT_EQ(code(access_of(3, 1, kHuge, 0)), Code::out_of_range);
  EXPECT_EQ(code(access_of(1'000'000, 1, kHuge, 0)), Code::out_of_range);
  EXPECT_EQ(code(access_of(2, kHuge, 1, 4)), Code::out_of_range);
  RegularAccess spread = access_of(2, 1, 1, 0);
  spread.processes = 3;
  EXPECT_EQ(code(spread), Code::invalid_argument);
}

TEST(Explain, DirectIoByHintWhereTheStorageHasIt) {
  const auto backend = make_memory_backend();
  const auto text = explain_access(*backend, "f", "io=direct,queue_depth=7", access_of(2, 1, 1 << 20, 0));

  ASSERT_TRUE(text.has_value());
  EXPECT_NE(text.value().find("\nway: past the page cache, 7 transfers"), std::string::npos) << text.value();
  EXPECT_NE(text.value().find("\nwrite: contiguous"), std::string::npos) << text.value();
}

// The plan equals the plan of the access itself: writes of two tasks into one block must not bypass the cache.
TEST(Explain, TasksThatMeetInABlockGoThroughTheCache) {
  const auto backend = make_memory_backend();
  const auto way = [&](std::uint64_t bytes) {
    const auto text = explain_access(*backend, "f", "io=direct,method=direct", access_of(2, 10, bytes, 2 * bytes));
    return text.has_value() ? text.value() : text.status().message();
  };

  EXPECT_NE(way(3000).find("\nway: through the page cache: tasks write parts of the same blocks"), std::string::npos)
      << way(3000);
  EXPECT_NE(way(4096).find("\nway: past the page cache"), std::string::npos) << way(4096);
}

TEST(Explain, RefusesUnknownHints) {
  const auto backend = make_memory_backend();

  EXPECT_EQ(explain_access(*backend, "f", "colour=red", access_of(1, 1, 1, 0)).status().code(), Code::unknown_hint);
}

}  // namespace
}  // namespace thalweg
