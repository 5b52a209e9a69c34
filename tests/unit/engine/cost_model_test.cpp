// Chosen plans, and the rules that no chosen plan breaks for any input.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "plan_case.hpp"

namespace thalweg {
namespace {

// Each task: `n` runs with `hole` bytes between them.
void set_holes(PlanCase& input, std::uint64_t n, std::uint64_t bytes, std::uint64_t hole) {
  const bool close = hole <= kCloseBy;
  input.close_runs = input.tasks * (close ? 1 : n);
  input.close_bytes = input.tasks * (n * bytes + (close ? (n - 1) * hole : 0));
}

// `tasks` tasks with `n` runs of `bytes` each, `stride` apart; tasks one behind the other.
PlanCase strided(std::size_t tasks, std::uint64_t n, std::uint64_t bytes, std::uint64_t stride) {
  PlanCase input;
  input.tasks = tasks;
  input.shared_memory = true;
  PlanCase& p = input;
  p.shape = stride == bytes ? Shape::contiguous : Shape::strided;
  p.bytes = tasks * n * bytes;
  p.end = (tasks * n - 1) * stride + bytes;
  p.runs = stride == bytes ? tasks : tasks * n;
  p.pieces = tasks * n;
  p.largest_share = 1.0 / static_cast<double>(tasks);
  set_holes(input, n, bytes, stride - bytes);
  return input;
}

// Runs without holes, dealt to the tasks in turn.
PlanCase interleaved(std::size_t tasks, std::uint64_t n, std::uint64_t bytes) {
  PlanCase input = strided(tasks, n, bytes, bytes);
  input.shape = Shape::interleaved;
  input.runs = tasks * n;
  set_holes(input, n, bytes, (tasks - 1) * bytes);
  return input;
}

PlanCase reading(PlanCase input) {
  input.direction = Direction::read;
  return input;
}

Plan plan(const PlanCase& input, const StorageCosts& costs = {}) { return choose_plan(input, costs); }

TEST(ChosenPlan, IsNothingWhenNoByteIsMoved) {
  EXPECT_EQ(plan({}).method, Method::nothing);
  EXPECT_EQ(plan({}).expected_ns, 0);
}

TEST(ChosenPlan, IsDirectForOneTaskAndForLargeTransfers) {
  EXPECT_EQ(plan(strided(1, 1, 1 << 20, 1 << 20)).method, Method::direct);
  EXPECT_EQ(plan(reading(strided(8, 1, 1 << 20, 1 << 20))).method, Method::direct);
}

TEST(ChosenPlan, IsSharedWhereRunsOfTasksMerge) {
  const Plan write = plan(interleaved(4, 100, 1024));
  const Plan read = plan(reading(interleaved(4, 100, 1024)));

  EXPECT_EQ(write.method, Method::shared);
  EXPECT_EQ(write.workers, 1u);  // one file takes one writer at a time
  EXPECT_EQ(read.method, Method::shared);
  EXPECT_EQ(read.workers, 4u);
}

PlanCase of_processes(PlanCase input) {
  input.shared_memory = false;
  input.most_aggregators = std::min<std::size_t>(input.tasks, 4);
  return input;
}

// 1 GB/s and 100 us for each operation.
StorageCosts far_away() {
  StorageCosts costs;
  costs.call_ns = 100'000;
  costs.read_byte_ns = costs.write_byte_ns = costs.staged_read_byte_ns = costs.staged_write_byte_ns = 1;
  costs.parallel_writes = 0;
  return costs;
}

TEST(ChosenPlan, AggregatesBetweenProcessesWhereCallsAreDear) {
  const PlanCase rows = of_processes(interleaved(8, 16384, 512));
  const Plan near = plan(rows);
  const Plan far = plan(rows, far_away());

  EXPECT_EQ(far.method, Method::aggregate);
  EXPECT_EQ(far.workers, 4u);
  EXPECT_NE(describe(far).find("longer transfers"), std::string::npos);
  EXPECT_LT(near.expected_ns, far.expected_ns);
  EXPECT_EQ(plan(of_processes(interleaved(8, 1 << 20, 8))).method, Method::aggregate) << "pieces of 8 bytes";
}

TEST(ChosenPlan, LeavesLargePiecesToTheirProcesses) {
  EXPECT_EQ(plan(of_processes(strided(8, 1, 1 << 24, 1 << 24))).method, Method::direct);
  EXPECT_EQ(plan(of_processes(strided(8, 1, 1 << 24, 1 << 24)), far_away()).method, Method::direct);
  EXPECT_EQ(plan(of_processes(reading(interleaved(4, 64, 1 << 20)))).method, Method::direct);
}

// As measured with 2 and 4 ranks of MPICH on 2 cores and ext4 (docs/performance/collective.md): the faster of two plans.
TEST(ChosenPlan, BetweenProcessesIsTheOneThatWasQuickerInThePageCache) {
  struct Measured {
    std::uint64_t bytes, pieces;
    Direction direction;
    Method quicker;
  };
  for (const Measured& one : {Measured{8, 16384, Direction::write, Method::aggregate},
                              {512, 16384, Direction::write, Method::aggregate},
                              {4096, 4096, Direction::write, Method::aggregate},
                              {8192, 4096, Direction::write, Method::aggregate},
                              {512, 16384, Direction::read, Method::direct},
                              {65536, 256, Direction::write, Method::direct},
                              {65536, 256, Direction::read, Method::direct}}) {
    for (const std::uint64_t tasks : {2, 4}) {
      PlanCase input = of_processes(interleaved(tasks, one.pieces, one.bytes));
      input.direction = one.direction;
      input.cores = 2;
      EXPECT_EQ(plan(input).method, one.quicker)
          << tasks << " tasks, " << one.bytes << " bytes, " << (one.direction == Direction::read ? "read" : "written");
    }
  }
}

// Rows of 512 bytes of a block of an array (coll_perf, 256^3, 8 ranks in 2 x 2 x 2): half of the rows of each plane
// belong to other ranks. On 2 cores direct took 24 ms, 2 aggregators 90 ms (docs/performance/collective.md).
TEST(ChosenPlan, ReadsRowsOfABlockThroughTheirHoles) {
  PlanCase rows = of_processes(reading(interleaved(8, 16384, 512)));
  rows.cores = 2;
  rows.close_runs = 8 * 128;
  rows.close_bytes = 8 * (128 * 128 * 1024 - 128 * 512);
  const Plan chosen = plan(rows);
  EXPECT_EQ(chosen.method, Method::direct);
  EXPECT_TRUE(chosen.sieve);
}

// Holes that are long for a page cache are short for storage with a high latency.
TEST(ChosenPlan, GoesThroughLongHolesOfSlowStorage) {
  const PlanCase records = reading(strided(1, 1000, 1024, 16384));
  StorageCosts slow;
  slow.call_ns = 1'000'000;
  slow.read_byte_ns = slow.staged_read_byte_ns = 1;
  EXPECT_TRUE(plan(records, slow).sieve);
  EXPECT_FALSE(plan(records).sieve);
}

// Windows of sieving include the holes, for each task.
TEST(ChosenPlan, MovesBytesOnceWhereAllShareOneServer) {
  PlanCase rows = of_processes(reading(interleaved(2, 16384, 512)));
  rows.cores = 2;
  ASSERT_EQ(plan(rows).method, Method::direct);
  StorageCosts server;
  server.call_ns = 100'000;
  server.common_byte_ns = 1;
  const Plan chosen = plan(rows, server);
  EXPECT_EQ(chosen.method, Method::aggregate);
  EXPECT_GE(chosen.expected_ns, static_cast<double>(rows.bytes));
}

// Each round has the bytes of one run: as many rounds as runs, and no operation saved.
TEST(ChosenPlan, CountsARoundForEachRunWhereTheyAreFarApart) {
  PlanCase sparse = of_processes(interleaved(4, 25000, 64));
  sparse.end = std::uint64_t{100} << 30;
  set_holes(sparse, 25000, 64, 1 << 20);

  EXPECT_EQ(plan(sparse).method, Method::direct);
}

TEST(ChosenPlan, DoesNotAggregateWhatIsCommon) {
  PlanCase rows = of_processes(reading(interleaved(8, 16384, 512)));
  ASSERT_EQ(plan(rows, far_away()).method, Method::aggregate);
  rows.common = true;
  EXPECT_EQ(plan(rows, far_away()).method, Method::direct);
}

TEST(ChosenPlan, OfAGroupWithoutAggregatorsIsNeverToAggregate) {
  PlanCase rows = of_processes(interleaved(8, 16384, 512));
  rows.most_aggregators = 0;
  EXPECT_EQ(plan(rows, far_away()).method, Method::direct);
  rows.method = Method::aggregate;
  EXPECT_EQ(plan(rows, far_away()).method, Method::direct);
}

// Every second range of 64 bytes is a hole.
TEST(ChosenPlan, AggregatorsPutBackHolesWhereTheyMay) {
  PlanCase records = of_processes(interleaved(8, 16384, 64));
  records.end *= 2;
  set_holes(records, 16384, 64, 15 * 64);
  const Plan sieved = plan(records, far_away());
  EXPECT_EQ(sieved.method, Method::aggregate);
  EXPECT_TRUE(sieved.sieve);
  EXPECT_NE(describe(sieved).find("the holes too"), std::string::npos) << describe(sieved);

  records.may_sieve_writes = false;
  const Plan by_runs = plan(records, far_away());
  EXPECT_FALSE(by_runs.sieve);
  EXPECT_GT(by_runs.expected_ns, sieved.expected_ns);
}

// No lock protects a hole that another process has in its window.
TEST(ChosenPlan, ProcessesPutBackNoHolesOfTheirOwn) {
  PlanCase records = strided(4, 1000, 64, 128);
  ASSERT_TRUE(plan(records).sieve);
  records.shared_memory = false;
  EXPECT_FALSE(plan(records).sieve);
  EXPECT_TRUE(plan(reading(records)).sieve);
}

TEST(ChosenPlan, TakesTheAggregatorsOfAHint) {
  PlanCase rows = of_processes(interleaved(8, 16384, 512));
  rows.aggregators = 3;
  rows.method = Method::aggregate;
  EXPECT_EQ(plan(rows).workers, 3u);
}

TEST(ChosenPlan, IsSharedWhereOneTaskHasAllTheWork) {
  PlanCase input = reading(strided(4, 100, 1 << 20, 1 << 20));
  input.largest_share = 1;
  input.runs = 1;

  EXPECT_EQ(plan(input).method, Method::shared);
  EXPECT_EQ(plan(input).workers, 4u);
}

TEST(ChosenPlan, NeverSharesWithoutSharedMemory) {
  PlanCase input = interleaved(4, 1000, 64);
  input.shared_memory = false;

  EXPECT_EQ(plan(input).method, Method::direct);
}

TEST(ChosenPlan, HasFewWorkersForFewBytes) {
  const auto workers = [](std::uint64_t n) { return plan(reading(interleaved(16, n, 1024))).workers; };

  EXPECT_LE(workers(1), 3u);
  EXPECT_GT(workers(20), workers(1));
  EXPECT_EQ(workers(10000), 16u);
}

TEST(ChosenPlan, PacksSmallPiecesOnly) {
  for (const std::size_t tasks : {std::size_t{1}, std::size_t{4}}) {
    EXPECT_TRUE(plan(strided(tasks, 10000, 64, 64)).pack);
    EXPECT_TRUE(plan(reading(strided(tasks, 10000, 64, 64))).pack);
    EXPECT_FALSE(plan(strided(1, 10000, 4096, 4096)).pack);
    EXPECT_FALSE(plan(reading(strided(tasks, 10000, 4096, 4096))).pack);
  }
}

// Only one task can write at a time; meanwhile the others copy into staging buffers in cache.
TEST(ChosenPlan, PacksLargeWritesOfSeveralTasksThatShareMemory) {
  const Plan large = plan(strided(2, 100, 1 << 20, 1 << 20));
  EXPECT_TRUE(large.pack);
  EXPECT_FALSE(plan(strided(2, 1, 65536, 65536)).pack);
}

TEST(ChosenPlan, SievesWhereHolesCostLessThanCalls) {
  EXPECT_TRUE(plan(strided(4, 1000, 64, 128)).sieve);
  EXPECT_TRUE(plan(reading(strided(4, 1000, 64, 128))).sieve);
  EXPECT_FALSE(plan(strided(4, 1000, 65536, 131072)).sieve);
  EXPECT_FALSE(plan(reading(strided(4, 1000, 65536, 131072))).sieve);
  EXPECT_FALSE(plan(reading(strided(4, 1000, 8, 4096))).sieve);  // a window would have almost no useful bytes
}

TEST(ChosenPlan, WritesBackHolesOnlyWhereItMay) {
  PlanCase input = strided(4, 1000, 64, 128);
  input.may_sieve_writes = false;
  EXPECT_FALSE(plan(input).sieve);
  EXPECT_TRUE(plan(reading(input)).sieve);

  // The windows of different tasks would overlap.
  PlanCase woven = strided(4, 1000, 64, 128);
  woven.shape = Shape::interleaved;
  EXPECT_TRUE(plan(woven).sieve);
  EXPECT_EQ(plan(woven).method, Method::shared);
  woven.shared_memory = false;
  EXPECT_FALSE(plan(woven).sieve);
  woven.shape = Shape::overlapping;
  EXPECT_FALSE(plan(woven).sieve);
}

TEST(ChosenPlan, StagesNothingWithoutStaging) {
  PlanCase input = strided(4, 1000, 64, 128);
  input.staging_bytes = 0;

  EXPECT_FALSE(plan(input).sieve);
  EXPECT_FALSE(plan(input).pack);
}

// Random input within the limits of real accesses.
PlanCase random_input(std::mt19937_64& random) {
  PlanCase input;
  input.tasks = 1 + random() % 40;
  input.shared_memory = random() % 2 == 0;
  input.may_sieve_writes = random() % 2 == 0;
  input.direction = random() % 2 == 0 ? Direction::read : Direction::write;
  if (random() % 2 == 0) input.workers = 1 + random() % input.tasks;
  input.most_aggregators = random() % 6;
  const std::vector<Method> between = {Method::direct, Method::aggregate};
  const std::vector<Method> within = {Method::direct, Method::shared, Method::naive, Method::aggregate};
  const std::vector<Method>& methods = input.shared_memory ? within : between;
  if (random() % 2 == 0) input.method = methods[random() % (methods.size() - (input.most_aggregators == 0 ? 1 : 0))];
  input.staging_bytes = random() % 3 == 0 ? 0 : std::uint64_t{1} << random() % 40;
  PlanCase& p = input;
  p.shape = static_cast<Shape>(random() % 6);
  p.bytes = random() >> random() % 64;
  p.end = random() >> 1;
  p.begin = random() % (p.end + 1);
  p.runs = 1 + (random() >> (1 + random() % 63));
  p.pieces = p.runs + (random() >> (1 + random() % 63));
  p.close_runs = 1 + random() % p.runs;
  p.close_bytes = p.bytes + random() % (p.end - p.begin + 1);
  p.largest_share = std::max(1.0 / static_cast<double>(input.tasks), static_cast<double>(random() % 1001) / 1000);
  return input;
}

TEST(ChosenPlan, KeepsTheRulesWhateverItIsAsked) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 100000; ++round) {
    const PlanCase input = random_input(random);
    StorageCosts costs;
    costs.parallel_reads = random() % 5;
    costs.parallel_writes = random() % 5;
    costs.handover_ns = random() % 4 == 0 ? 0 : 300;
    const bool reads = input.direction == Direction::read;
    const std::size_t most = reads ? costs.parallel_reads : costs.parallel_writes;

    const Plan found = choose_plan(input, costs);
    const Plan again = choose_plan(input, costs);

    ASSERT_EQ(found.method == Method::nothing, input.bytes == 0);
    ASSERT_TRUE(found.method == Method::nothing || !input.method || found.method == *input.method);
    ASSERT_TRUE(found.method != Method::naive || input.method == Method::naive);
    ASSERT_TRUE(found.method != Method::shared || input.shared_memory);
    ASSERT_TRUE(found.workers >= 1 && found.workers <= input.tasks &&
                (most == 0 || found.method == Method::aggregate || found.pack || found.sieve ||
                 found.workers <= std::max(most, input.workers)));
    ASSERT_TRUE(found.method != Method::shared || input.workers == 0 || found.workers == input.workers);
    ASSERT_FALSE(found.pack && found.sieve);
    ASSERT_TRUE(!found.sieve || reads || input.may_sieve_writes);
    ASSERT_TRUE(input.staging_bytes > 0 || !(found.pack || found.sieve));
    ASSERT_TRUE(found.expected_ns >= 0 && *found.reason != '\0');
    ASSERT_TRUE(again.method == found.method && again.workers == found.workers &&
                again.expected_ns == found.expected_ns);
  }
}

TEST(Plan, IsDescribedInOneLine) {
  Plan shared{Method::shared, 2, true, false, 1234567, "because"};
  EXPECT_EQ(describe(shared), "shared by 2 workers, packed (because; expected 1.2 ms)");
  shared.workers = 1;
  shared.pack = false;
  shared.sieve = true;
  shared.expected_ns = 999;
  EXPECT_EQ(describe(shared), "shared by 1 worker, sieved (because; expected 999.0 ns)");
  EXPECT_EQ(describe(plan({})), "nothing (no task moves a byte)");
  shared.method = Method::direct;
  shared.sieve = false;
  EXPECT_EQ(describe(shared), "direct (because; expected 999.0 ns)");
  EXPECT_STREQ(method_name(Method::naive), "naive");
}

}  // namespace
}  // namespace thalweg
