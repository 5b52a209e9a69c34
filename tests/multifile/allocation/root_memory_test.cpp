// What creating a multifile takes of task 0, which hears what every task asks for: bytes and messages, counted.
#include <gtest/gtest.h>

#include <bit>
#include <string>

#include "file/multifile.hpp"
#include "group/sim_group.hpp"
#include "support/counting_new.hpp"

namespace thalweg::test {
namespace {

constexpr std::size_t kTasksPerNode = 64;

// Each task a process that serves a logical file.
Gathered requests_of_all(std::size_t tasks) {
  Gathered all;
  all.begin.reserve(tasks + 1);
  for (std::size_t task = 0; task < tasks; ++task) {
    WriteRequest request;
    request.n_logical = tasks;
    request.process = static_cast<std::int64_t>(task);
    request.node = static_cast<std::int64_t>(task / kTasksPerNode);
    request.runs = {{task, 1}};
    const Bytes bytes = encode(request, task, tasks);
    all.begin.push_back(all.data.size());
    all.data.insert(all.data.end(), bytes.begin(), bytes.end());
  }
  all.begin.push_back(all.data.size());
  all.data.shrink_to_fit();
  return all;
}

// From the requests to the shares, with a physical file for 16 tasks: 64 bytes of each are 64 MiB with a million.
TEST(RootMemory, APlanTakesFewBytesOfEachTask) {
  constexpr std::size_t kTasks = 1 << 16;
  const std::uint64_t before = Allocations::in_use();
  Gathered gathered = requests_of_all(kTasks);
  EXPECT_LE(gathered.data.size(), 16 * kTasks);
  StorageInfo storage;
  storage.capacity_bytes = std::uint64_t{1} << 50;
  Gathered shares;
  std::size_t files = 0;
  Allocations::restart_peak();

  const auto plan_all = [&]() -> Status {
    TW_ASSIGN_OR_RETURN(const Requests requests, Requests::decode(std::move(gathered)));
    TW_ASSIGN_OR_RETURN(const WritePlan plan, plan_create({requests, {}, {}, storage, 2}));
    shares = encode_shares(plan, requests);
    files = plan.parts.size();
    return {};
  };
  const Status planned = plan_all();

  ASSERT_TRUE(planned.ok()) << planned.message();
  EXPECT_EQ(files, kTasks / 16);
  EXPECT_LE(shares.data.size(), 8 * kTasks);
  EXPECT_LE(Allocations::peak() - before, 60 * kTasks);
  RecordProperty("bytes_of_a_task", static_cast<int>((Allocations::peak() - before) / kTasks));
}

Op<Status> create_and_close(Group& group, std::shared_ptr<Backend> backend) {
  OpenRequest request;
  request.backend = std::move(backend);
  request.path = "multi.tw";
  request.access = Access::create;
  auto file = co_await open_multifile(group, std::move(request));
  if (!file.has_value()) co_return file.error();
  co_return co_await close_multifile(group, std::move(file).value());
}

// Nothing is as long as the packet of a collective, so that not even task 0 sends or gets a message for each task.
TEST(RootMemory, CollectivesBringFewBytesInFewMessages) {
  constexpr TaskRank kTasks = 4096;
  SimOptions options{.tasks = kTasks, .processes_per_node = kTasksPerNode, .shuffled = false};
  options.costs.emplace();
  SimWorld world(options);
  const std::shared_ptr<Backend> backend = make_memory_backend();
  std::vector<Op<Status>> ops;
  for (TaskRank rank = 0; rank < kTasks; ++rank) ops.push_back(create_and_close(world.group(rank), backend));

  ASSERT_TRUE(world.run<Status>(ops).ok());

  for (Op<Status>& op : ops) ASSERT_TRUE(op.value().ok()) << op.value().message();
  const auto log = static_cast<std::uint64_t>(std::bit_width(static_cast<std::uint64_t>(kTasks - 1)));
  for (const SimTask& task : world.ledger().tasks) {
    ASSERT_LE(task.most_received, 16u * kTasks);
    ASSERT_LE(task.messages, 3 * log * world.ledger().collectives);
  }
}

}  // namespace
}  // namespace thalweg::test
