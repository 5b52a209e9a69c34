// A multifile of all OpenMP threads of all ranks of a hybrid program; ranks have different numbers of threads.
#include <gtest/gtest.h>
#include <mpi.h>
#include <omp.h>

#include <string>
#include <vector>

#include "support/groups/process_mpi.hpp"
#include "thalweg/group_omp.h"
#include "thalweg/thalweg.h"

namespace thalweg::test {
namespace {

class HybridMultifile : public testing::Test {
 protected:
  void SetUp() override { omp_set_dynamic(0); }
  int threads() const { return 1 + world_.rank() % 3; }

  Comm world_{MPI_COMM_WORLD};
  SharedFolder folder_{world_};
  const std::string path_ = folder_.path("run.tw");
};

std::string content(std::int64_t task, const char* what) {
  std::string text;
  for (int i = 0; i < 3000; ++i) text += what + std::to_string(task * 10'000 + i) + "\n";
  return text;
}

std::string read_all(tw_multifile* file) {
  std::int64_t bytes = 0;
  EXPECT_EQ(tw_multifile_available(file, nullptr, &bytes), TW_OK);
  std::string text(static_cast<std::size_t>(bytes), ' ');
  EXPECT_EQ(tw_multifile_read(file, text.data(), text.size(), nullptr), TW_OK) << tw_last_error();
  return text;
}

void write_all(tw_group* group, const std::string& path, int mode, const std::string& text) {
  tw_multifile* file = nullptr;
  EXPECT_EQ(tw_multifile_open(group, path.c_str(), mode, nullptr, &file), TW_OK) << tw_last_error();
  EXPECT_EQ(tw_multifile_write(file, text.data(), text.size()), TW_OK) << tw_last_error();
  EXPECT_EQ(tw_multifile_close(&file), TW_OK) << tw_last_error();
}

TEST_F(HybridMultifile, GivesBackToEachThreadWhatItWrote) {
#pragma omp parallel num_threads(threads())
  {
    tw_group* group = nullptr;
    tw_multifile* file = nullptr;
    EXPECT_EQ(tw_group_hybrid_omp(world_.group(), &group), TW_OK);
    const std::int64_t task = tw_group_rank(group);
    write_all(group, path_, TW_CREATE | TW_TRUNCATE, content(task, "first "));
    write_all(group, path_, TW_APPEND, content(task, "second "));
    EXPECT_EQ(tw_multifile_open(group, path_.c_str(), TW_READ, nullptr, &file), TW_OK) << tw_last_error();
    EXPECT_TRUE(read_all(file) == content(task, "first ") + content(task, "second ")) << "task " << task;
    EXPECT_EQ(tw_multifile_close(&file), TW_OK) << tw_last_error();
    tw_group_free(&group);
  }
}

// Threads write, ranks read: each determines its part from its number.
TEST_F(HybridMultifile, IsReadByTheRanksAlone) {
  std::int64_t tasks = 0;
#pragma omp parallel num_threads(threads())
  {
    tw_group* group = nullptr;
    EXPECT_EQ(tw_group_hybrid_omp(world_.group(), &group), TW_OK);
    write_all(group, path_, TW_CREATE | TW_TRUNCATE, content(tw_group_rank(group), "of a thread "));
#pragma omp master
    tasks = tw_group_size(group);
    tw_group_free(&group);
  }
  tw_multifile* file = nullptr;
  ASSERT_EQ(tw_multifile_open(world_.group(), path_.c_str(), TW_READ, nullptr, &file), TW_OK) << tw_last_error();

  const std::int64_t first = tasks * world_.rank() / world_.size();
  const std::int64_t end = tasks * (world_.rank() + 1) / world_.size();
  for (std::int64_t task = first; task < end; ++task) {
    EXPECT_EQ(tw_multifile_seek_to(file, task, 0), TW_OK) << tw_last_error();
    EXPECT_TRUE(read_all(file) == content(task, "of a thread ")) << "task " << task;
  }
  EXPECT_EQ(tw_multifile_close(&file), TW_OK);
}

// One thread of the last rank passes a different mode.
TEST_F(HybridMultifile, FailsInAllThreadsOfAllRanksWhenOneGivesABadMode) {
#pragma omp parallel num_threads(2)
  {
    tw_group* group = nullptr;
    tw_multifile* file = nullptr;
    EXPECT_EQ(tw_group_hybrid_omp(world_.group(), &group), TW_OK);
    const bool wrong = tw_group_rank(group) == tw_group_size(group) - 1;
    EXPECT_EQ(tw_multifile_open(group, path_.c_str(), wrong ? 77 : TW_CREATE | TW_TRUNCATE, nullptr, &file),
              TW_ERR_INVALID);
    EXPECT_EQ(file, nullptr);
    EXPECT_EQ(tw_group_barrier(group), TW_OK);
    tw_group_free(&group);
  }
  EXPECT_FALSE(std::filesystem::exists(path_));
}

}  // namespace
}  // namespace thalweg::test
