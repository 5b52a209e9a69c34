// A program that ends MPI before it has waited for its requests and closed its files.
#include <gtest/gtest.h>
#include <mpi.h>
#include <stdlib.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "support/process_mpi.hpp"
#include "thalweg/thalweg.h"

namespace thalweg::test {
namespace {

constexpr std::int64_t kPiece = 5000;
constexpr int kRounds = 12;
constexpr std::array kModes = {TW_PROGRESS_THREAD, TW_PROGRESS_POLL, TW_PROGRESS_KERNEL};

char byte_of(std::int64_t task, int round) { return static_cast<char>('a' + (task * 5 + round) % 26); }

// An open file with requests under way that nobody waits for.
struct Left {
  tw_file* file = nullptr;
  std::vector<std::string> data;
  std::vector<tw_request*> requests;

  void start(tw_group* group, const std::string& path, const char* hints) {
    tw_file_options options{};
    options.struct_size = sizeof options;
    options.hints = hints;
    const std::int64_t task = tw_group_rank(group);
    const std::int64_t tasks = tw_group_size(group);
    ASSERT_EQ(tw_file_open(group, path.c_str(), TW_FILE_WRITE | TW_FILE_CREATE, &options, &file), TW_OK)
        << tw_last_error();
    for (int i = 0; i < kRounds; ++i) data.emplace_back(static_cast<std::size_t>(kPiece), byte_of(task, i));
    for (int i = 0; i < kRounds; ++i) {
      const tw_extent extent{data[static_cast<std::size_t>(i)].data(), kPiece, (i * tasks + task) * kPiece};
      tw_access access{};
      access.struct_size = sizeof access;
      access.direction = TW_ACCESS_WRITE;
      access.progress = kModes[static_cast<std::size_t>(i) % kModes.size()];
      access.extents = &extent;
      access.n = 1;
      requests.push_back(nullptr);
      ASSERT_EQ(tw_iaccess_all(file, nullptr, &access, &requests.back()), TW_OK) << tw_last_error();
    }
  }
  // After the end: what was started is done, and nothing else can be.
  void expect_ended() {
    for (tw_request*& request : requests) {
      std::int64_t moved = 0;
      EXPECT_EQ(tw_wait(&request, &moved), TW_OK) << tw_last_error();
      EXPECT_EQ(moved, kPiece);
    }
    const std::string late = "late";
    EXPECT_EQ(tw_write_at_all(file, late.data(), 4, 0), TW_ERR_INVALID);
    EXPECT_NE(std::string(tw_last_error()).find("MPI is finalised"), std::string::npos) << tw_last_error();
    tw_request* request = nullptr;
    ASSERT_EQ(tw_iwrite_at_all(file, late.data(), 4, 0, &request), TW_OK);
    EXPECT_EQ(tw_wait(&request, nullptr), TW_ERR_INVALID);
    EXPECT_EQ(tw_file_close(file), TW_ERR_INVALID);
  }
};

void expect_written(const std::string& path, std::int64_t tasks) {
  std::string expected;
  for (int i = 0; i < kRounds; ++i)
    for (std::int64_t task = 0; task < tasks; ++task)
      expected.append(static_cast<std::size_t>(kPiece), byte_of(task, i));
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(std::string(std::istreambuf_iterator<char>(in), {}) == expected) << path;
}

std::string folder_of_all() {
  std::array<char, 1024> name{};
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    const std::string made = (std::filesystem::temp_directory_path() / "thalweg_mpi_XXXXXX").string();
    made.copy(name.data(), name.size() - 1);
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
  }
  MPI_Bcast(name.data(), static_cast<int>(name.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
  return name.data();
}

// The threads of a rank start their requests of a hybrid group, too, and end.
void start_on_threads(tw_group* ranks, const std::string& path, Left (&left)[2], tw_group* (&groups)[2]) {
  tw_team* team = nullptr;
  ASSERT_EQ(tw_team_create(2, &team), TW_OK);
  const auto one = [&](int thread) {
    tw_group* mine = nullptr;
    EXPECT_EQ(tw_group_team(team, thread, &mine), TW_OK);
    EXPECT_EQ(tw_group_hybrid(mine, thread == 0 ? ranks : nullptr, &groups[thread]), TW_OK) << tw_last_error();
    left[thread].start(groups[thread], path, nullptr);
    tw_group_free(mine);
  };
  std::thread second([&] { one(1); });
  one(0);
  second.join();
  tw_team_free(team);
}

TEST(MpiFinalize, CompletesWhatWasStartedAndEndsTheRest) {
  const std::string folder = folder_of_all();
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  tw_group* group = nullptr;
  ASSERT_EQ(tw_group_mpi(MPI_COMM_WORLD, &group), TW_OK) << tw_last_error();
  Left direct;
  Left two_phase;
  Left threads[2];
  tw_group* hybrid[2] = {};
  direct.start(group, folder + "/direct", "method=direct");
  two_phase.start(group, folder + "/two_phase", "method=aggregate");
  start_on_threads(group, folder + "/threads", threads, hybrid);
  tw_multifile* multifile = nullptr;
  ASSERT_EQ(tw_multifile_open(group, (folder + "/run.tw").c_str(), TW_CREATE, nullptr, &multifile), TW_OK)
      << tw_last_error();
  ASSERT_EQ(tw_write(multifile, "record", 6), TW_OK) << tw_last_error();

  EXPECT_EQ(MPI_Finalize(), MPI_SUCCESS);

  if (rank == 0) {
    expect_written(folder + "/direct", ranks);
    expect_written(folder + "/two_phase", ranks);
    expect_written(folder + "/threads", 2 * ranks);
  }
  direct.expect_ended();
  two_phase.expect_ended();
  std::thread second([&] { threads[1].expect_ended(); });
  threads[0].expect_ended();
  second.join();
  EXPECT_NE(tw_multifile_close(multifile), TW_OK);
  for (tw_group* of_thread : hybrid) tw_group_free(of_thread);
  tw_group_free(group);
  if (rank == 0) std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace thalweg::test
