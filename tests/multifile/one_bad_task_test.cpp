// One task with wrong arguments, on threads, callbacks, threads of several processes, and simulated tasks.
#include "multifile/one_bad_task.hpp"

#include <stdlib.h>

#include <filesystem>

#include "sim/memory_backend.hpp"
#include "support/groups/run_on.hpp"

namespace thalweg::test {
namespace {

struct Kind {
  const char* name;
  std::int64_t tasks;
  std::function<void(const TeamBody&)> run_on;
};
void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

std::vector<Kind> blocking_kinds() {
  return {{"Team1", 1, [](const TeamBody& body) { run_on_team(1, body); }},
          {"Team3", 3, [](const TeamBody& body) { run_on_team(3, body); }},
          {"Team5", 5, [](const TeamBody& body) { run_on_team(5, body); }},
          {"Callbacks3", 3, [](const TeamBody& body) { run_on_callbacks(3, 0, body); }},
          {"CallbacksOfProcesses5", 5, [](const TeamBody& body) { run_on_callbacks(5, 2, body); }},
          {"Hybrid_2_1", 3,
           [](const TeamBody& body) {
             run_on_hybrid({2, 1}, body);
           }},
          {"Hybrid_1_3_1", 5, [](const TeamBody& body) {
             run_on_hybrid({1, 3, 1}, body);
           }}};
}

std::vector<TaskRank> spoilers(std::int64_t tasks) {
  std::vector<TaskRank> all = {0};
  if (tasks > 2) all.push_back(tasks / 2);
  if (tasks > 1) all.push_back(tasks - 1);
  return all;
}

std::string case_name(const BadRequest& bad, TaskRank spoiler) {
  constexpr const char* kWays[] = {"reading", "creating", "appending"};
  return std::string(bad.name) + ", " + kWays[static_cast<int>(bad.good)] + ", by task " + std::to_string(spoiler);
}

class OneBadTask : public testing::TestWithParam<Kind> {};

TEST_P(OneBadTask, MakesAllTasksFailTheSameWay) {
  for (const BadRequest& bad : bad_requests()) {
    for (const TaskRank spoiler : spoilers(GetParam().tasks)) {
      if (bad.needs_others && GetParam().tasks == 1) continue;
      const auto backend = make_memory_backend();
      prepare(backend, "run.tw", bad.good, GetParam().tasks);

      GetParam().run_on(
          [&](Group& group) { EXPECT_TRUE(run(one_bad_request(group, backend, "run.tw", bad, spoiler)).ok()); });

      ASSERT_FALSE(HasFailure()) << case_name(bad, spoiler);
    }
  }
}

TEST_P(OneBadTask, IsToldThroughTheCApi) {
  std::string folder = (std::filesystem::temp_directory_path() / "thalweg_bad_XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const std::string path = folder + "/run.tw";
  for (const BadCall& bad : bad_calls()) {
    for (const auto& [mode, access] : modes()) {
      for (const TaskRank spoiler : spoilers(GetParam().tasks)) {
        std::filesystem::remove(path);
        prepare(posix_backend(), path, access, GetParam().tasks);

        GetParam().run_on([&, mode = mode](Group& group) { one_bad_call(group, path, mode, bad, spoiler); });

        EXPECT_FALSE(HasFailure()) << bad.name << ", mode " << mode << ", by task " << spoiler;
        if (HasFailure()) return;
      }
    }
  }
  std::filesystem::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(Kinds, OneBadTask, testing::ValuesIn(blocking_kinds()),
                         [](const auto& instance) { return instance.param.name; });

// Includes orders that are rare with threads. The simulator reports deadlocks.
TEST(OneBadTaskSimulated, MakesAllTasksFailTheSameWay) {
  for (const BadRequest& bad : bad_requests()) {
    for (const std::uint64_t seed : {1, 2, 3}) {
      constexpr std::int64_t kTasks = 7;
      const auto spoiler = static_cast<TaskRank>(seed * 3 % kTasks);
      const auto backend = make_memory_backend();
      prepare(backend, "run.tw", bad.good, kTasks);

      run_on_sim(SimOptions{.tasks = kTasks, .seed = seed, .tasks_per_process = 3},
                 [&](Group& group) { return one_bad_request(group, backend, "run.tw", bad, spoiler); });

      EXPECT_FALSE(HasFailure()) << case_name(bad, spoiler) << ", seed " << seed;
      if (HasFailure()) return;
    }
  }
}

// Task 0 alone calls the mapping; all tasks get its error.
TEST(BadMapping, MakesAllTasksFailTheSameWay) {
  for (const std::int32_t answer : {-1, 3, INT32_MAX}) {
    const auto backend = make_memory_backend();
    run_on_team(4, [&](Group& group) {
      OpenRequest request = good_request(group, backend, "run.tw", MultifileMode::create);
      request.options.physical_files = 3;
      request.mapping = [answer](std::int64_t rank, std::int64_t, std::int32_t) { return rank == 5 ? answer : 0; };
      const auto file = run(open_multifile(group, std::move(request)));
      EXPECT_EQ(file.status().code(), Code::invalid_argument) << file.status().message();
    });
    EXPECT_EQ(backend->open("run.tw", OpenMode::read).status().code(), Code::not_found);
  }
}

}  // namespace
}  // namespace thalweg::test
