// Decisions on storage that tells stripes: exact counts of bytes by target, for simulated tasks. Each test prints what
// was so where the storage tells its block only, and what is so where it tells stripes (docs/adr/0041).
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <vector>

#include "engine/plan/stripe_order.hpp"
#include "multifile/multifile.hpp"
#include "sharedfile/plain_file.hpp"
#include "sim/memory_backend.hpp"
#include "sim/sim_group.hpp"
#include "support/engine/striped_storage.hpp"

namespace thalweg::test {
namespace {

constexpr std::uint64_t kStripe = 64 << 10;
constexpr std::uint64_t kTargets = 12;

// Tasks, nodes with as many of them each, and what the storage tells.
struct Machine {
  TaskRank tasks = 24;
  std::int64_t on_node = 3;
  std::uint32_t block_bytes = kStripe;
  StripeLayout told = {};
};

// Runs a task on each rank, with its backend.
template <class Body>
std::shared_ptr<StripeRecord> on_machine(const Machine& machine, Body&& body) {
  SimWorld world({.tasks = machine.tasks, .seed = 3, .processes_per_node = machine.on_node});
  auto record = std::make_shared<StripeRecord>();
  record->told = machine.told;
  record->block_bytes = machine.block_bytes;
  const auto inner = make_memory_backend();
  std::vector<Op<Status>> ops;
  for (TaskRank r = 0; r < machine.tasks; ++r)
    ops.push_back(body(world.group(r), std::make_shared<StripedStorage>(record, r, inner)));
  const Status end = world.run(std::span(ops));
  EXPECT_TRUE(end.ok()) << end.message();
  for (Op<Status>& op : ops) EXPECT_TRUE(op.value().ok()) << op.value().message();
  return record;
}

struct Pieces {
  std::uint64_t count, bytes, begin;
  bool interleaved;
};

std::uint64_t offset_of(const Pieces& pieces, const Machine& machine, TaskRank task, std::uint64_t i) {
  const auto tasks = static_cast<std::uint64_t>(machine.tasks), rank = static_cast<std::uint64_t>(task);
  return pieces.begin + (pieces.interleaved ? i * tasks + rank : rank * pieces.count + i) * pieces.bytes;
}

std::byte byte_at(std::uint64_t offset) { return static_cast<std::byte>(offset * 7 + offset / 251 + 1); }

// Each task writes its pieces, or reads what all of them wrote.
Op<Status> move_pieces(Group& group, std::shared_ptr<Backend> backend, Machine machine, Pieces pieces,
                       Direction direction) {
  PlainOpen how;
  how.path = "shared.dat";
  how.options.write = how.options.create = true;
  how.hints = "method=aggregate,aggregator_bytes=4MiB";
  auto opened = co_await PlainFile::open(group, std::move(backend), std::move(how));
  if (!opened.has_value()) co_return opened.error();
  std::vector<std::byte> memory(pieces.count * pieces.bytes);
  TaskAccess access;
  std::vector<Extent> extents;
  std::size_t wrong = 0;
  for (const Direction now : {Direction::write, direction}) {
    extents.clear();
    for (std::uint64_t i = 0; i < pieces.count; ++i)
      extents.push_back({memory.data() + i * pieces.bytes, pieces.bytes, offset_of(pieces, machine, group.rank(), i)});
    for (const Extent& extent : extents)
      for (std::uint64_t i = 0; i < extent.bytes; ++i)
        extent.memory[i] = now == Direction::write ? byte_at(extent.offset + i) : std::byte{0};
    access.direction = now;
    access.extents = extents;
    const Outcome outcome = co_await opened.value()->access(access);
    EXPECT_TRUE(outcome.status.ok()) << outcome.status.message();
    EXPECT_EQ(outcome.plan.method, Method::aggregate);
  }
  for (const Extent& extent : extents)
    for (std::uint64_t i = 0; i < extent.bytes; ++i) wrong += extent.memory[i] != byte_at(extent.offset + i) ? 1 : 0;
  EXPECT_EQ(wrong, 0u) << "task " << group.rank();
  co_return co_await opened.value()->close();
}

std::uint64_t most_of(const std::map<std::uint64_t, std::uint64_t>& sums) {
  std::uint64_t most = 0;
  for (const auto& [target, bytes] : sums) most = std::max(most, bytes);
  return most;
}
std::uint64_t least_of(const std::map<std::uint64_t, std::uint64_t>& sums) {
  std::uint64_t least = ~std::uint64_t{0};
  for (const auto& [target, bytes] : sums) least = std::min(least, bytes);
  return sums.size() < kTargets ? 0 : least;
}

struct Aggregated {
  std::size_t aggregators = 0, most_targets = 0;  // tasks that transfer, and targets that one of them touches
  std::size_t writers = 0;                        // most tasks that touch one target
  std::uint64_t least = 0, most = 0;              // bytes of a target
};

Aggregated counted(const Machine& machine, const StripeRecord& record, Direction direction) {
  Aggregated all;
  std::map<std::uint64_t, std::size_t> writers;
  for (TaskRank r = 0; r < machine.tasks; ++r) {
    const auto sums = record.on_targets(direction, kStripe, kTargets, r, 1);
    all.aggregators += sums.empty() ? 0 : 1;
    all.most_targets = std::max(all.most_targets, sums.size());
    for (const auto& [target, bytes] : sums) all.writers = std::max(all.writers, ++writers[target]);
  }
  const auto sums = record.on_targets(direction, kStripe, kTargets, -1, 1);
  all.least = least_of(sums);
  all.most = most_of(sums);
  return all;
}

TEST(StripesOfSharedFiles, EachAggregatorTouchesItsOwnTargetsOnly) {
  // 12 targets with 20 stripes each; once from the middle of a stripe on
  const Pieces shapes[] = {
      {128, 5120, 0, true}, {1, 655360, 0, false}, {128, 5120, 5000, true}, {640, 1024, 100, true}};
  for (const std::int64_t on_node : {12, 3, 1}) {
    for (const Pieces& pieces : shapes) {
      for (const Direction direction : {Direction::write, Direction::read}) {
        Machine machine{.on_node = on_node};
        const auto run = [&] {
          const auto record = on_machine(machine, [&](Group& group, std::shared_ptr<Backend> backend) {
            return move_pieces(group, std::move(backend), machine, pieces, direction);
          });
          return counted(machine, *record, direction);
        };
        const Aggregated before = run();
        machine.told = {kStripe, kTargets};
        const Aggregated after = run();
        SCOPED_TRACE(std::to_string(on_node) + " on a node, begins at " + std::to_string(pieces.begin));
        EXPECT_GT(after.aggregators, 1u);
        EXPECT_TRUE(suits_targets(after.aggregators, kTargets)) << after.aggregators;
        EXPECT_EQ(after.most_targets, std::max<std::size_t>(kTargets / after.aggregators, 1));
        EXPECT_EQ(after.writers, std::max<std::size_t>(after.aggregators / kTargets, 1));
        EXPECT_TRUE(direction == Direction::read || after.writers == 1) << after.writers;
        EXPECT_LE(after.most - after.least, after.most / 10);
        if (direction == Direction::read || pieces.begin != 0) continue;
        std::printf(
            "24 tasks, %2d on a node, %4d pieces of %6d bytes: %zu aggregators of %zu targets, %zu on a target"
            " -> %zu of %zu, %zu\n",
            static_cast<int>(on_node), static_cast<int>(pieces.count), static_cast<int>(pieces.bytes),
            before.aggregators, before.most_targets, before.writers, after.aggregators, after.most_targets,
            after.writers);
      }
    }
  }
}

// ---- Multifiles ---------------------------------------------------------------------------------------------------

Op<Status> write_small(Group& group, std::shared_ptr<Backend> backend, std::uint64_t bytes, std::string* strategy) {
  OpenRequest request;
  request.backend = std::move(backend);
  request.path = "multi.tw";
  request.access = MultifileMode::create;
  request.options.physical_files = 1;
  auto opened = co_await open_multifile(group, std::move(request));
  if (!opened.has_value()) co_return opened.error();
  Multifile& file = **opened;
  if (group.rank() == 0) *strategy = file.strategy;
  const std::vector<std::byte> memory(bytes);
  auto writer = file.writing->current_or_first();
  Status status = writer.status();
  if (status.ok()) status = file.writing->write(**writer, memory);
  const Status closed = co_await close_multifile(group, std::move(*opened));
  co_return status.ok() ? closed : status;
}

struct Spread {
  std::size_t targets = 0;
  std::uint64_t least = 0, most = 0;
  std::string strategy;
};

// The targets of the data of chunks.
Spread spread(const Machine& machine, std::uint64_t stripe, std::uint64_t bytes) {
  std::string strategy;
  const auto record = on_machine(machine, [&](Group& group, std::shared_ptr<Backend> backend) {
    return write_small(group, std::move(backend), bytes, &strategy);
  });
  const auto sums = record->on_targets(Direction::write, stripe, kTargets, -1, 32 << 10);
  return {sums.size(), least_of(sums), most_of(sums), strategy};
}

TEST(StripesOfMultifiles, SmallChunksOfOneFileLieOnAllTargets) {
  constexpr std::uint64_t kBytes = 48 << 10;
  for (const std::uint64_t stripe : {std::uint64_t{1} << 20, std::uint64_t{2} << 20}) {
    Machine machine{.tasks = 48, .on_node = 4, .block_bytes = static_cast<std::uint32_t>(stripe)};
    const Spread block = spread(machine, stripe, kBytes);
    machine.told = {stripe, 0};
    const Spread bytes = spread(machine, stripe, kBytes);
    machine.told = {stripe, kTargets};
    const Spread both = spread(machine, stripe, kBytes);

    EXPECT_EQ(block.targets, 3u) << block.strategy;
    for (const Spread& told : {bytes, both}) {
      EXPECT_EQ(told.targets, kTargets) << told.strategy;
      EXPECT_LE(told.most - told.least, told.most / 10) << told.strategy;
      EXPECT_NE(told.strategy.find("(slabs begin on stripes)"), std::string::npos) << told.strategy;
    }
    EXPECT_NE(both.strategy.find("over 12 targets"), std::string::npos) << both.strategy;
    std::printf(
        "48 chunks of 48 KiB, stripes of %d KiB: on %zu of 12 targets -> %zu (stripe told), %zu (targets told)\n",
        static_cast<int>(stripe >> 10), block.targets, bytes.targets, both.targets);
  }
}

}  // namespace
}  // namespace thalweg::test
