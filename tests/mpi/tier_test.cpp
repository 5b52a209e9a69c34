// Multifiles in node-local tiers, written by ranks on several nodes: docs/howto/node_local.md. On one machine every
// second rank counts as another node, and all have one tier; in tests/nodes/run_nodes.sh (TW_NODES_TIER) each node has a
// tmpfs of its own.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "os/node_id.hpp"
#include "support/files/open_options.hpp"
#include "support/groups/process_mpi.hpp"
#include "thalweg/thalweg.h"

namespace thalweg::test {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBytes = 700'000;

int rank_of_world() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

class MpiTiers : public testing::Test {
 protected:
  MpiTiers() : real_(node_id_call()) {
    if (!on_several_nodes()) node_id_call() = []() -> std::int64_t { return rank_of_world() % 2; };
    world_.emplace(MPI_COMM_WORLD);
    folder_.emplace(*world_);
    const char* own = std::getenv("TW_NODES_TIER");
    tier_ = own != nullptr ? own : folder_->path("tier");
    if (own == nullptr && world_->rank() == 0) fs::create_directory(tier_);
    world_->barrier();
    path_ = folder_->path("c.tw");
  }
  ~MpiTiers() override {
    node_id_call() = real_;
    folder_.reset();
    world_.reset();
  }

  std::string content(int version) const {
    std::string data(kBytes + static_cast<std::size_t>(world_->rank()) * 100, ' ');
    for (std::size_t i = 0; i < data.size(); ++i)
      data[i] = static_cast<char>(i * 7 + i / 4096 + static_cast<std::size_t>(world_->rank() * 31 + version * 101));
    return data;
  }
  tw_status write(int version, const std::string& hints) const {
    tw_multifile* file = nullptr;
    const tw_status opened = tw_multifile_open(world_->group(), path_.c_str(), TW_CREATE | TW_TRUNCATE,
                                               OpenWith().hints("tier=" + tier_ + "," + hints), &file);
    if (opened != TW_OK) return opened;
    const std::string data = content(version);
    EXPECT_EQ(tw_multifile_write(file, data.data(), data.size()), TW_OK) << tw_last_error();
    return tw_multifile_close(&file);
  }
  void expect_read(int version, const std::string& hints = "") const {
    tw_multifile* file = nullptr;
    ASSERT_EQ(tw_multifile_open(world_->group(), path_.c_str(), TW_READ, OpenWith().hints(hints), &file), TW_OK)
        << tw_last_error();
    const std::string wanted = content(version);
    std::string found(wanted.size() + 1, '#');
    std::size_t got = 0;
    EXPECT_EQ(tw_multifile_read(file, found.data(), found.size(), &got), TW_OK) << tw_last_error();
    found.resize(got);
    EXPECT_TRUE(found == wanted) << got << " of " << wanted.size() << " bytes";
    EXPECT_EQ(tw_multifile_close(&file), TW_OK);
    world_->barrier();
  }
  // What this node has in its tier; with one tier, what all have.
  std::size_t in_tier() const {
    world_->barrier();
    const auto n = static_cast<std::size_t>(std::distance(fs::directory_iterator(tier_), {}));
    world_->barrier();
    return n;
  }
  // Whether all ranks are on one node.
  bool on_one_node() const {
    const char* number = std::getenv("TW_NODE");
    int node = number != nullptr ? std::atoi(number) : world_->rank() % 2;
    MPI_Allreduce(MPI_IN_PLACE, &node, 1, MPI_INT, MPI_MAX, world_->comm());
    return node == 0;
  }
  // The tier of the node of rank 0 is lost.
  void lose_first_node() const {
    std::vector<fs::path> lost;
    for (const auto& entry : fs::directory_iterator(tier_)) {
      const std::string name = entry.path().string();
      if (on_several_nodes() || name.ends_with(".000000") || name.ends_with(".000001.copy"))
        lost.push_back(entry.path());
    }
    world_->barrier();
    if (world_->rank() == 0)
      for (const fs::path& folder : lost) fs::remove_all(folder);
    world_->barrier();
  }

  NodeIdCall real_;
  std::optional<Comm> world_;
  std::optional<SharedFolder> folder_;
  std::string tier_, path_;
};

TEST_F(MpiTiers, TheCloseWaitsForTheDrain) {
  EXPECT_EQ(write(1, "drain=wait"), TW_OK) << tw_last_error();

  expect_read(1);
  EXPECT_EQ(in_tier(), 0U);
}

TEST_F(MpiTiers, TheOpenForReadingWaitsForTheDrain) {
  EXPECT_EQ(write(1, "drain=async,partner=1"), TW_OK) << tw_last_error();
  EXPECT_EQ(write(2, "drain=async"), TW_OK) << tw_last_error();

  expect_read(2, "tier=" + tier_);
  EXPECT_EQ(in_tier(), 0U);
}

TEST_F(MpiTiers, TheCopyOnThePartnerTakesThePlaceOfALostNode) {
  if (on_one_node()) GTEST_SKIP() << "one node has no partner";
  EXPECT_EQ(write(1, "drain=wait"), TW_OK) << tw_last_error();
  EXPECT_EQ(write(2, "drain=leave,partner=1"), TW_OK) << tw_last_error();
  lose_first_node();

  expect_read(1);
  expect_read(2, "tier=" + tier_);
  EXPECT_EQ(in_tier(), 0U);
}

TEST_F(MpiTiers, WithoutACopyTheOlderOneIsRead) {
  if (on_one_node()) GTEST_SKIP() << "one node has all parts";
  EXPECT_EQ(write(1, "drain=wait"), TW_OK) << tw_last_error();
  EXPECT_EQ(write(2, "drain=leave"), TW_OK) << tw_last_error();
  lose_first_node();

  expect_read(1, "tier=" + tier_);
  world_->barrier();
  for (const auto& entry : fs::directory_iterator(tier_)) {
    std::error_code by_another_rank;
    fs::remove_all(entry.path(), by_another_rank);
  }
}

TEST_F(MpiTiers, TasksThatDisagreeGetAnError) {
  if (world_->size() < 2) GTEST_SKIP() << "one task agrees with itself";
  EXPECT_EQ(write(1, world_->rank() == 0 ? "drain=wait" : "drain=async"), TW_ERR_INVALID);
  EXPECT_EQ(in_tier(), 0U);
}

}  // namespace
}  // namespace thalweg::test
