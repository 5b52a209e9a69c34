// The check of a mount gives all ranks one answer, also where one of them fails. tests/nodes/run_nodes.sh has several nodes.
#include "check.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <mpi.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "support/groups/process_mpi.hpp"

namespace thalweg::test {
namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

class MpiCheck : public testing::Test {
 protected:
  // Where a rank has another exit code than rank 0 the test fails.
  int check(const std::string& folder) {
    ::setenv("THALWEG_PROFILE", profile_.c_str(), 1);
    const int code = probe::check_mount(Group::make(tw_group_mpi, MPI_COMM_WORLD), folder, "q");
    int first = code;
    MPI_Bcast(&first, 1, MPI_INT, 0, MPI_COMM_WORLD);
    EXPECT_EQ(code, first);
    return code;
  }
  // Rank 0's, of the only mount, or of the first one.
  nlohmann::json kept() const {
    const auto profile = nlohmann::json::parse(std::ifstream(profile_), nullptr, false);
    return profile.is_object() ? *profile["checks"].begin() : nlohmann::json();
  }
  int nodes() const {
    int last = std::atoi(variable("TW_NODE").c_str());
    MPI_Allreduce(MPI_IN_PLACE, &last, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return last + 1;
  }

  Comm world_{MPI_COMM_WORLD};
  SharedFolder folder_{world_};
  const std::string place_ = folder_.path("."), profile_ = folder_.path("profile.json");
};

TEST_F(MpiCheck, TellsWhatTheMountsOfTheNodesCanDo) {
  const int code = check(place_);
  const int n = nodes();
  const std::string mount = std::filesystem::path(variable("TW_MOUNT")).filename();
  world_.barrier();
  if (world_.rank() != 0) return;
  const nlohmann::json found = kept();
  EXPECT_EQ(found.contains("coherent"), n > 1);
  EXPECT_EQ(found.contains("locks"), n > 1) << found;
  const bool is_local = mount.empty() || mount == "back" || mount == "xfs" || mount == "btrfs";
  if (is_local) {
    EXPECT_EQ(code, 0);
  }
  if (n > 1) {
    const bool own_locks = mount.starts_with("fuse") || mount.starts_with("sshfs");
    EXPECT_EQ(found["locks"], own_locks ? "node" : "all");
    EXPECT_TRUE(found["coherent"] == "seen" || !is_local) << found;
    EXPECT_TRUE(found["coherent"] == "no" || !mount.starts_with("fuse_cached")) << found;
  }
  std::filesystem::remove(profile_);
  EXPECT_TRUE(std::filesystem::is_empty(place_));
}

TEST_F(MpiCheck, FailsOnAllWhereOneRankCannotOpenFiles) {
  rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  world_.barrier();
  if (world_.rank() == world_.size() - 1) {
    const int next = ::open("/dev/null", O_RDONLY);
    const rlimit none{static_cast<rlim_t>(next), before.rlim_max};
    ::close(next);
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  }
  EXPECT_EQ(check(place_), 3);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  if (world_.rank() == 0) {
    EXPECT_TRUE(std::filesystem::is_empty(place_));
  }
}

TEST_F(MpiCheck, FailsOnAllWithoutAFolder) { EXPECT_EQ(check(folder_.path("missing")), 3); }

}  // namespace
}  // namespace thalweg::test
