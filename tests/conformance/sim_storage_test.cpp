// The engine on simulated storage: bytes as on other storage, and advancing clocks, also where each aggregator has the
// stripes of its own targets.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "sim/memory_backend.hpp"
#include "sim/sim_storage.hpp"
#include "support/engine/engine_bodies.hpp"

namespace thalweg::test {
namespace {

TEST(EngineOnSimStorage, HoldsWithCosts) {
  SimStorageCosts striped;
  striped.stripe_bytes = 4096;
  striped.servers = 4;
  striped.tells_stripes = true;
  const std::pair<TaskRank, SimStorageCosts> worlds[] = {{1, {}}, {5, {}}, {5, striped}};
  for (const auto& [tasks, costs] : worlds) {
    for (const EngineBody& body : engine_bodies()) {
      SimOptions options{.tasks = tasks, .seed = 7, .processes_per_node = 2};
      options.costs.emplace();
      SimWorld world(options);
      const auto storage = SimStorage::make(make_memory_backend(), costs, world.ledger());
      std::vector<Op<Status>> ops;
      for (TaskRank r = 0; r < tasks; ++r)
        ops.push_back(body.run(world.group(r), {storage->backend_of(r, r / 2), "shared.dat"}));

      const Status end = world.run(std::span(ops));

      ASSERT_TRUE(end.ok()) << body.name << ": " << end.message();
      for (Op<Status>& op : ops) EXPECT_TRUE(op.value().ok()) << body.name << ": " << op.value().message();
      for (const SimTask& task : world.ledger().tasks) EXPECT_GT(task.clock_ns, 0) << body.name;
      ASSERT_FALSE(HasFailure()) << "in " << body.name;
    }
  }
}

}  // namespace
}  // namespace thalweg::test
