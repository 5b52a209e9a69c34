// Modes change speed, never content: random programs on every kind of group (MPI: tests/mpi/vpfile_test.cpp), compared
// with stdio files.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "support/files/vp_program.hpp"
#include "support/groups/worlds.hpp"
#include "support/sanitized.hpp"

namespace thalweg::test {
namespace {

constexpr unsigned kMostSeconds = 60;  // time limit: then the program ends

class RandomPrograms : public testing::TestWithParam<World> {
 protected:
  void SetUp() override {
    ::alarm(kMostSeconds);
    std::string name = (std::filesystem::temp_directory_path() / "thalweg_vp_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override {
    std::filesystem::remove_all(folder_);
    ::alarm(0);
  }
  std::string folder_;
};

TEST_P(RandomPrograms, AreWhatStdioFilesWouldHold) {
  const std::uint64_t most = tries_less() ? 15 : 60;
  for (std::uint64_t seed = 1; seed <= most && !HasFailure(); ++seed) {
    GetParam().run([&](Group& group) {
      return play_vp_program(group, {seed, posix_backend(), folder_ + "/streams", folder_ + "/model"});
    });
  }
  for (const char* mode : {"write NB", "write CB", "write IB", "read NB", "read CB", "read IB"})
    EXPECT_TRUE(vp_mode_was_seen(mode)) << mode;
}

std::vector<World> some_worlds() {
  static const std::set<std::string> names = {"Self",       "Team2",      "Team3",
                                              "Polled3",    "Callbacks2", "CallbacksOfProcesses5",
                                              "Hybrid_2_2", "Sim3Seed1",  "Sim5Seed2"};
  std::vector<World> some;
  for (World& world : all_worlds())
    if (names.count(world.name) != 0) some.push_back(std::move(world));
  return some;
}

INSTANTIATE_TEST_SUITE_P(AllKinds, RandomPrograms, testing::ValuesIn(some_worlds()),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace thalweg::test
