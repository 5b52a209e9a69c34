#include "support/groups/worlds.hpp"

#include <gtest/gtest.h>

#include "support/sanitized.hpp"

namespace thalweg::test {

namespace {

TeamBody blocking(const OpBody& body) {
  return [&body](Group& group) {
    const Status status = run(body(group));
    EXPECT_TRUE(status.ok()) << status.message();
  };
}

void add_sims(std::vector<World>& worlds) {
  for (const TaskRank tasks : {1, 2, 3, 5}) {
    for (const std::uint64_t seed : {1, 2, 3, 4}) {
      worlds.push_back({"Sim" + std::to_string(tasks) + "Seed" + std::to_string(seed),
                        [tasks, seed](const OpBody& body) { run_on_sim(tasks, seed, body); }});
    }
  }
  worlds.push_back({"Sim1000OfProcesses", [](const OpBody& body) {
                      run_on_sim(SimOptions{.tasks = 1000, .seed = 9, .tasks_per_process = 3, .processes_per_node = 4},
                                 body);
                    }});
  worlds.push_back(
      {"Sim1000InTurn", [](const OpBody& body) { run_on_sim(SimOptions{.tasks = 1000, .shuffled = false}, body); }});
}

}  // namespace

std::vector<World> all_worlds() {
  std::vector<World> worlds;
  worlds.push_back({"Self", [](const OpBody& body) { blocking(body)(*make_self_group()); }});
  for (const std::int64_t tasks : {1, 2, 3, 5, 8, 16}) {
    worlds.push_back(
        {"Team" + std::to_string(tasks), [tasks](const OpBody& body) { run_on_team(tasks, blocking(body)); }});
    worlds.push_back({"Polled" + std::to_string(tasks), [tasks](const OpBody& body) { run_polled(tasks, body); }});
  }
  for (const std::int64_t tasks : {1, 2, 5, 7}) {
    worlds.push_back({"Callbacks" + std::to_string(tasks),
                      [tasks](const OpBody& body) { run_on_callbacks(tasks, 0, blocking(body)); }});
    worlds.push_back({"CallbacksOfProcesses" + std::to_string(tasks),
                      [tasks](const OpBody& body) { run_on_callbacks(tasks, 2, blocking(body)); }});
  }
  const std::vector<std::vector<std::int64_t>> shapes = {{1}, {3}, {1, 1}, {2, 2}, {3, 1, 2}, {1, 4, 1, 2}};
  for (const auto& shape : shapes) {
    std::string name = "Hybrid";
    for (const std::int64_t threads : shape) name += "_" + std::to_string(threads);
    worlds.push_back({name, [shape](const OpBody& body) { run_on_hybrid(shape, blocking(body)); }});
  }
  if (!kWatchesThreads) add_sims(worlds);  // simulated groups use a watching thread
  return worlds;
}

}  // namespace thalweg::test
