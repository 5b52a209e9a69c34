// A task that cannot allocate what a collective brings: the same failure on all tasks, and nobody waits.
//
// The program's operator new refuses large blocks on a thread that asks for it. All forms are replaced, so that what
// one of them allocates another one frees.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "support/group_data.hpp"
#include "support/run_on.hpp"

namespace {

thread_local std::size_t refuse_from = SIZE_MAX;

}  // namespace

void* operator new(std::size_t size) {
  if (size >= refuse_from) throw std::bad_alloc();
  if (void* memory = std::malloc(size > 0 ? size : 1)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return operator new(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace thalweg::test {
namespace {

constexpr std::size_t kLarge = 1 << 20;

// Large allocations fail on one task, for a scope.
class Poor {
 public:
  explicit Poor(bool poor) {
    if (poor) refuse_from = kLarge / 2;
  }
  ~Poor() { refuse_from = SIZE_MAX; }
  Poor(const Poor&) = delete;
  Poor& operator=(const Poor&) = delete;
};

// Each collective in turn, with each task in turn short of memory; afterwards the group still works.
void every_collective_fails_on_all(Group& group) {
  for (TaskRank poor_task = 0; poor_task < group.size(); ++poor_task) {
    const bool poor = group.rank() == poor_task;
    const TaskRank root = (poor_task + 1) % group.size();
    const Bytes data = bytes_of(group.rank(), 1, kLarge);
    Gathered parts;
    for (TaskRank r = 0; r <= group.size(); ++r) parts.begin.push_back(static_cast<std::uint64_t>(r) * kLarge);
    parts.data.resize(parts.begin.back());
    Status broadcast;
    Status gathered;
    Status allgathered;
    Status scattered;
    {
      const Poor scope(poor);
      broadcast = run(group.broadcast(data, root)).status();
      gathered = run(group.gather(data, poor_task)).status();
      allgathered = run(group.allgather(data)).status();
      scattered = run(group.scatter(parts, root)).status();
    }

    EXPECT_EQ(broadcast.code(), Code::no_memory);
    // In a hybrid the leader of a process receives for the root, which then need not allocate: one answer for all.
    if (std::string(group.kind()) == "team") {
      EXPECT_EQ(gathered.code(), Code::no_memory);
    }
    const auto code = static_cast<std::int64_t>(gathered.code());
    const auto least = run(group.allreduce(std::vector<std::int64_t>(1, code), Reduction::min));
    EXPECT_EQ(least.value()[0], code);
    EXPECT_EQ(allgathered.code(), Code::no_memory);
    EXPECT_EQ(scattered.code(), Code::no_memory);
    EXPECT_TRUE(run(group.allgather(data)).has_value());
  }
}

TEST(NoMemory, IsTheFailureOfAllTasksOfATeam) { run_on_team(3, every_collective_fails_on_all); }

TEST(NoMemory, IsTheFailureOfAllTasksOfAHybrid) { run_on_hybrid({2, 1, 2}, every_collective_fails_on_all); }

}  // namespace
}  // namespace thalweg::test
