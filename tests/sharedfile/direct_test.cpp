// Direct I/O: what all tasks must agree on, and what the records of accesses report.
#include <algorithm>
#include <cstddef>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "sharedfile/plain_file.hpp"
#include "sim/memory_backend.hpp"
#include "storage/queues.hpp"
#include "support/files/shared_files.hpp"
#include "testing/fault_backend.hpp"

namespace thalweg::test {
namespace {

constexpr std::uint64_t kEach = std::uint64_t{3} << 20;  // of two tasks: enough for preallocation

class Direct : public SharedFiles {};

// State of the file after a task's write.
struct Found {
  Status status;
  std::uint32_t alignment = 0;
  Plan plan;
};

Op<Found> write_part(Group& group, std::shared_ptr<Backend> backend) {
  Found found;
  PlainOpen how;
  how.path = "f";
  how.options.write = how.options.create = how.direct = true;
  auto opened = co_await PlainFile::open(group, backend, how);
  found.status = opened.status();
  if (!opened.has_value()) co_return found;
  PlainFile& file = *opened.value();
  found.alignment = file.shared()->direct_alignment;
  std::vector<std::byte> memory(kEach, static_cast<std::byte>('a' + group.rank()));
  std::vector<Extent> extents(1);
  extents[0] = {memory.data(), memory.size(), static_cast<std::uint64_t>(group.rank()) * kEach};
  TaskAccess access;
  access.direction = Direction::write;
  access.extents = extents;
  Outcome outcome = co_await file.access(access);
  found.plan = outcome.plan;
  found.status = outcome.status;
  const Status closed = co_await file.close();
  if (found.status.ok()) found.status = closed;
  co_return found;
}

struct Alignments {
  std::vector<std::uint32_t> of_processes;
  std::uint32_t agreed;
};

void expect_agreement(const Alignments& what, std::uint64_t seed) {
  const auto memory = make_memory_backend();
  std::vector<std::shared_ptr<Backend>> nodes;
  for (const std::uint32_t alignment : what.of_processes) {
    FaultScript script;
    script.direct_alignment = alignment;
    nodes.push_back(make_fault_backend(memory, script));
  }
  const auto n = nodes.size();
  const auto found = results_on_sim<Found>(
      {.tasks = static_cast<TaskRank>(2 * n), .seed = seed, .tasks_per_process = 2},
      [&](Group& group) { return write_part(group, nodes[static_cast<std::size_t>(group.rank()) / 2]); });

  ASSERT_EQ(found.size(), 2 * n) << "the tasks did not come to an end";
  for (const Found& mine : found) {
    EXPECT_TRUE(mine.status.ok()) << mine.status.message();
    EXPECT_EQ(mine.alignment, what.agreed);
    EXPECT_EQ(mine.plan.past_cache, what.agreed > 0);
    EXPECT_EQ(describe(mine.plan).find("this file system has no direct I/O") == std::string::npos, what.agreed > 0);
  }
  std::vector<std::byte> bytes(2 * n * kEach + 1);
  EXPECT_EQ(memory->open("f", OpenMode::read).value()->read(0, bytes).value(), 2 * n * kEach);
  for (std::size_t task = 0; task < 2 * n; ++task) {
    const auto from = bytes.begin() + static_cast<std::ptrdiff_t>(task * kEach);
    EXPECT_EQ(std::count(from, from + kEach, static_cast<std::byte>('a' + task)), static_cast<std::ptrdiff_t>(kEach));
  }
}

// A node may lack direct I/O, or have larger blocks than the others.
TEST_F(Direct, AllProcessesTakeTheSameAlignment) {
  const Alignments kinds[] = {{{512, 0}, 0}, {{0, 512}, 0},     {{4096, 512}, 4096},      {{512, 65536}, 65536},
                              {{0, 0}, 0},   {{512, 512}, 512}, {{512, 4096, 512}, 4096}, {{4096, 512, 0}, 0}};
  for (const Alignments& what : kinds)
    for (const std::uint64_t seed : {1, 2}) expect_agreement(what, seed);
}

// Two tasks write interleaved pieces that are no whole blocks: the hint has no effect, and the record says so.
TEST_F(Direct, TheRecordOfAnAccessTellsTheWayThatWasTaken) {
  const auto memory = make_memory_backend();
  run_on_team(2, [&](Group& group) {
    PlainOpen how;
    how.path = "f";
    how.options.write = how.options.create = how.direct = true;
    how.hints = "method=direct";
    const auto opened = run(PlainFile::open(group, memory, how));
    ASSERT_TRUE(opened.has_value()) << opened.status().message();
    PlainFile& file = *opened.value();
    for (const std::uint64_t piece : {4096, 3000}) {
      std::vector<std::byte> bytes(8 * piece);
      std::vector<Extent> extents;
      for (std::uint64_t i = 0; i < 8; ++i)
        extents.push_back(
            {bytes.data() + i * piece, piece, (2 * i + static_cast<std::uint64_t>(group.rank())) * piece});
      TaskAccess access;
      access.direction = Direction::write;
      access.extents = extents;
      const Outcome outcome = run(file.access(access));
      EXPECT_TRUE(outcome.status.ok()) << outcome.status.message();
      EXPECT_EQ(outcome.plan.past_cache, piece == 4096);
      EXPECT_EQ(describe(outcome.plan).find("past the page cache") != std::string::npos, piece == 4096);
    }
    EXPECT_TRUE(run(file.close()).ok());
  });
}

// The kernel fills the last block of aligned memory, also beyond the end of the file.
TEST_F(Direct, ReadsTouchNothingBehindTheEndOfTheFile) {
  constexpr std::size_t kBlock = 4096;
  constexpr std::size_t kAsked = 4 * kBlock;
  for (const std::size_t end : {std::size_t{0}, kBlock - 1, kBlock, kBlock + 3000, 3 * kBlock, kAsked}) {
    std::ofstream(path()) << std::string(end, 'd');
    on_file(
        1,
        [&](tw_file* file, int) {
          alignas(kBlock) static std::byte memory[kAsked];
          std::fill_n(memory, kAsked, std::byte{'m'});
          std::size_t n = 0;
          EXPECT_EQ(tw_file_read_at_all(file, memory, kAsked, 0, &n), TW_OK) << tw_last_error();

          EXPECT_EQ(n, static_cast<std::int64_t>(end));
          EXPECT_EQ(std::count(memory, memory + end, std::byte{'d'}), static_cast<std::ptrdiff_t>(end));
          EXPECT_EQ(std::count(memory + end, memory + kAsked, std::byte{'m'}),
                    static_cast<std::ptrdiff_t>(kAsked - end));
        },
        TW_READ, "io=direct");
  }
}

}  // namespace
}  // namespace thalweg::test
