// Shared by the MPI tests of multifiles: communicators with their groups, a folder that all ranks see, and threads on
// all ranks. Header only: the support library does not link MPI.
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>
#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "thalweg/group_mpi.h"

namespace thalweg::test {

// Whether tests/nodes/run_nodes.sh has started the ranks, on several nodes.
inline bool on_several_nodes() { return std::getenv("TW_NODE") != nullptr; }

// A duplicated communicator and the group of its ranks. Constructor and destructor are collective.
class Comm {
 public:
  explicit Comm(MPI_Comm of, int color = 0, int key = 0) {
    MPI_Comm_split(of, color, key, &comm_);
    EXPECT_EQ(tw_group_mpi(comm_, &group_), TW_OK) << tw_last_error();
  }
  ~Comm() {
    tw_group_free(&group_);
    MPI_Comm_free(&comm_);
  }
  Comm(const Comm&) = delete;
  Comm& operator=(const Comm&) = delete;

  int rank() const {
    int rank = 0;
    MPI_Comm_rank(comm_, &rank);
    return rank;
  }
  int size() const {
    int size = 0;
    MPI_Comm_size(comm_, &size);
    return size;
  }
  void barrier() const { MPI_Barrier(comm_); }
  MPI_Comm comm() const { return comm_; }
  tw_group* group() const { return group_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  tw_group* group_ = nullptr;
};

// An empty folder, created by rank 0 and removed after all ranks have finished.
class SharedFolder {
 public:
  explicit SharedFolder(const Comm& comm) : comm_(comm) {
    char name[1024] = "";
    if (comm.rank() == 0) {
      std::string made = (std::filesystem::temp_directory_path() / "thalweg_mpi_XXXXXX").string();
      EXPECT_NE(::mkdtemp(made.data()), nullptr);
      made.copy(name, sizeof name - 1);
    }
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, comm.comm());
    folder_ = name;
  }
  ~SharedFolder() {
    comm_.barrier();
    if (comm_.rank() == 0) std::filesystem::remove_all(folder_);
  }
  SharedFolder(const SharedFolder&) = delete;
  SharedFolder& operator=(const SharedFolder&) = delete;

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

 private:
  const Comm& comm_;
  std::filesystem::path folder_;
};

// Runs `body` on all threads of all ranks, `threads` of them on this rank. Thread 0 is the calling one and the only one
// that calls MPI.
inline void on_threads_of_ranks(const Comm& comm, int threads, const std::function<void(tw_group*)>& body) {
  tw_team* team = nullptr;
  ASSERT_EQ(tw_team_create(threads, &team), TW_OK);
  const auto one = [&](int thread) {
    tw_group* mine = nullptr;
    tw_group* all = nullptr;
    EXPECT_EQ(tw_group_team(team, thread, &mine), TW_OK);
    EXPECT_EQ(tw_group_hybrid(mine, thread == 0 ? comm.group() : nullptr, &all), TW_OK) << tw_last_error();
    body(all);
    tw_group_free(&all);
    tw_group_free(&mine);
  };
  std::vector<std::thread> others;
  for (int thread = 1; thread < threads; ++thread) others.emplace_back(one, thread);
  one(0);
  for (std::thread& thread : others) thread.join();
  tw_team_free(&team);
}

}  // namespace thalweg::test
