// Conformance of the engine on every kind of group, in memory and in files. MPI has its own program (tests/mpi).
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "sim/memory_backend.hpp"
#include "support/engine/engine_bodies.hpp"
#include "support/groups/worlds.hpp"
#include "support/sanitized.hpp"

namespace thalweg::test {
namespace {

constexpr unsigned kMostSeconds = 250;  // time limit: then the program ends

class EngineConformance : public testing::TestWithParam<World> {
 protected:
  void SetUp() override { ::alarm(patience(kMostSeconds)); }
  void TearDown() override { ::alarm(0); }

  void expect_all(const Storage& storage) {
    for (const EngineBody& body : engine_bodies()) {
      GetParam().run([&](Group& group) { return body.run(group, storage); });

      ASSERT_FALSE(HasFailure()) << "in " << body.name;
    }
  }
};

TEST_P(EngineConformance, HoldsInMemory) { expect_all({make_memory_backend(), "shared.dat"}); }

TEST_P(EngineConformance, HoldsInFiles) {
  std::string folder = (std::filesystem::temp_directory_path() / "thalweg_engine_XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);

  expect_all({posix_backend(), folder + "/shared.dat"});

  std::filesystem::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(AllKinds, EngineConformance, testing::ValuesIn(all_worlds()),
                         [](const auto& instance) { return instance.param.name; });

TEST(EngineConformancePlans, EveryKindIsCarriedOut) {
  ::alarm(patience(kMostSeconds));
  const Storage storage{make_memory_backend(), "shared.dat"};
  for (const EngineBody& body : engine_bodies()) {
    run_on_team(3, [&](Group& group) {
      const Status status = run(body.run(group, storage));
      EXPECT_TRUE(status.ok()) << status.message();
    });
  }
  ::alarm(0);

  for (const char* plan : {"nothing", "direct", "direct packed", "direct sieved", "shared", "shared packed",
                           "shared sieved", "naive", "aggregate"})
    EXPECT_EQ(plans_seen().count(plan), 1u) << plan;
}

}  // namespace
}  // namespace thalweg::test
