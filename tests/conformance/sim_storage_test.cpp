// The engine on simulated storage: bytes as on other storage, and advancing clocks.
#include <gtest/gtest.h>

#include <vector>

#include "sim/memory_backend.hpp"
#include "sim/sim_storage.hpp"
#include "support/engine/engine_bodies.hpp"

namespace thalweg::test {
namespace {

TEST(EngineOnSimStorage, HoldsWithCosts) {
  for (const TaskRank tasks : {1, 5}) {
    for (const EngineBody& body : engine_bodies()) {
      SimOptions options{.tasks = tasks, .seed = 7, .processes_per_node = 2};
      options.costs.emplace();
      SimWorld world(options);
      const auto storage = SimStorage::make(make_memory_backend(), {}, world.ledger());
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
