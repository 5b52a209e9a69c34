// Bytes and messages that creating a multifile costs task 0, which receives every task's request.
#include <gtest/gtest.h>

#include <bit>
#include <string>

#include "multifile/multifile.hpp"
#include "sim/memory_backend.hpp"
#include "sim/sim_group.hpp"
#include "support/memory/counting_new.hpp"

namespace thalweg::test {
namespace {

constexpr std::size_t kTasksPerNode = 64;

// Each task is a process that serves one logical file. Unlike: no two neighbours request equal chunk sizes.
Gathered requests_of_all(std::size_t tasks, bool alike) {
  Gathered all;
  all.begin.reserve(tasks + 1);
  for (std::size_t task = 0; task < tasks; ++task) {
    WriteRequest request;
    request.n_logical = tasks;
    request.process = static_cast<std::int64_t>(task);
    request.node = static_cast<std::int64_t>(task / kTasksPerNode);
    request.ranges = {{task, 1}};
    if (!alike) request.chunk_bytes = (1 << 20) + task * 65537 % (16 << 20);
    const Bytes bytes = encode(request, task, tasks);
    all.begin.push_back(all.data.size());
    all.data.insert(all.data.end(), bytes.begin(), bytes.end());
  }
  all.begin.push_back(all.data.size());
  all.data.shrink_to_fit();
  return all;
}

// Peak memory from the requests to the shares, with up to one physical file per 16 tasks.
std::uint64_t peak_of_plan(std::size_t tasks, bool alike, Gathered& shares) {
  const std::uint64_t before = Allocations::in_use();
  Gathered gathered = requests_of_all(tasks, alike);
  StorageInfo storage;
  storage.free_bytes = std::uint64_t{1} << 50;
  Allocations::restart_peak();
  const Status planned = [&]() -> Status {
    TW_ASSIGN_OR_RETURN(const WriteRequests requests, WriteRequests::decode(std::move(gathered)));
    TW_ASSIGN_OR_RETURN(const WritePlan plan, plan_create({requests, {}, {}, storage}));
    EXPECT_EQ(plan.files[0].header.n_later + 1, tasks / 16);
    shares = encode_shares(plan, requests);
    return {};
  }();
  EXPECT_TRUE(planned.ok()) << planned.message();
  return Allocations::peak() - before;
}

constexpr std::size_t kTasks = 1 << 16;

struct BytesOfATask {
  std::uint64_t request;
  std::uint64_t share;
  std::uint64_t peak;
};

void expect_at_most(const BytesOfATask& most, bool alike) {
  EXPECT_LE(requests_of_all(kTasks, alike).data.size(), most.request * kTasks);
  Gathered shares;
  const std::uint64_t peak = peak_of_plan(kTasks, alike, shares);
  EXPECT_LE(shares.data.size(), most.share * kTasks);
  EXPECT_LE(peak, most.peak * kTasks);
  testing::Test::RecordProperty("bytes_of_a_task", static_cast<int>(peak / kTasks));
}

// 64 bytes per task are 64 MiB for a million tasks.
TEST(RootMemory, APlanTakesFewBytesOfEachTask) { expect_at_most({.request = 16, .share = 8, .peak = 56}, true); }

TEST(RootMemory, APlanTakesMoreWhereTasksAreUnlikeEachOther) {
  expect_at_most({.request = 24, .share = 24, .peak = 176}, false);
}

Op<Status> create_and_close(Group& group, std::shared_ptr<Backend> backend) {
  OpenRequest request;
  request.backend = std::move(backend);
  request.path = "multi.tw";
  request.access = MultifileMode::create;
  auto file = co_await open_multifile(group, std::move(request));
  if (!file.has_value()) co_return file.error();
  co_return co_await close_multifile(group, std::move(file).value());
}

// No data exceeds a collective's packet, so that not even task 0 exchanges a message with every task.
TEST(RootMemory, CollectivesBringFewBytesInFewMessages) {
  constexpr TaskRank kSimulated = 4096;
  SimOptions options{.tasks = kSimulated, .processes_per_node = kTasksPerNode, .shuffled = false};
  options.costs.emplace();
  SimWorld world(options);
  const std::shared_ptr<Backend> backend = make_memory_backend();
  std::vector<Op<Status>> ops;
  for (TaskRank rank = 0; rank < kSimulated; ++rank) ops.push_back(create_and_close(world.group(rank), backend));

  ASSERT_TRUE(world.run<Status>(ops).ok());

  for (Op<Status>& op : ops) ASSERT_TRUE(op.value().ok()) << op.value().message();
  const auto log = static_cast<std::uint64_t>(std::bit_width(static_cast<std::uint64_t>(kSimulated - 1)));
  for (const SimTask& task : world.ledger().tasks) {
    ASSERT_LE(task.most_received, 16u * kSimulated);
    ASSERT_LE(task.messages, 3 * log * world.ledger().collectives);
  }
}

}  // namespace
}  // namespace thalweg::test
