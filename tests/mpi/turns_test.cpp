// Threads that take turns in MPI (MPI_THREAD_SERIALIZED): never two at once, and with the program's permission the
// progress thread advances collectives of ranks. An error of MPI, even a fatal one, becomes a status.
//
// The wrappers of MPI calls below precede the library's and count concurrent callers.
#include <gtest/gtest.h>
#include <mpi.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "support/files/open_options.hpp"
#include "support/groups/process_mpi.hpp"
#include "thalweg/thalweg.h"

namespace {

std::atomic<int> inside{0};
std::atomic<int> calls{0};
std::atomic<int> met{0};          // concurrent MPI calls
std::atomic<bool> slow{false};    // makes each call slow, so that concurrent ones overlap
std::atomic<bool> broken{false};  // passes wrong arguments to messages, so that MPI reports errors

const std::thread::id main_thread = std::this_thread::get_id();
std::atomic<int> freed_elsewhere{0};  // communicators

struct Inside {
  Inside() {
    calls.fetch_add(1);
    if (inside.fetch_add(1) > 0) met.fetch_add(1);
    if (slow.load()) std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
  ~Inside() { inside.fetch_sub(1); }
};

}  // namespace

extern "C" {

int MPI_Test(MPI_Request* request, int* done, MPI_Status* status) {
  const Inside now;
  return PMPI_Test(request, done, status);
}
int MPI_Testsome(int n, MPI_Request requests[], int* n_done, int done[], MPI_Status statuses[]) {
  const Inside now;
  return PMPI_Testsome(n, requests, n_done, done, statuses);
}
int MPI_Testall(int n, MPI_Request requests[], int* done, MPI_Status statuses[]) {
  const Inside now;
  return PMPI_Testall(n, requests, done, statuses);
}
int MPI_Comm_free(MPI_Comm* comm) {
  const Inside now;
  if (std::this_thread::get_id() != main_thread) freed_elsewhere.fetch_add(1);
  return PMPI_Comm_free(comm);
}
int MPI_Improbe(int source, int tag, MPI_Comm comm, int* found, MPI_Message* message, MPI_Status* status) {
  const Inside now;
  return PMPI_Improbe(source, tag, comm, found, message, status);
}
int MPI_Iprobe(int source, int tag, MPI_Comm comm, int* found, MPI_Status* status) {
  const Inside now;
  return PMPI_Iprobe(source, tag, comm, found, status);
}
int MPI_Isend(const void* data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  const Inside now;
  return PMPI_Isend(data, broken.load() ? -1 : n, type, to, tag, comm, request);
}
int MPI_Irecv(void* data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request) {
  const Inside now;
  return PMPI_Irecv(data, broken.load() ? -1 : n, type, from, tag, comm, request);
}

}  // extern "C"

namespace thalweg::test {
namespace {

constexpr std::int64_t kPiece = 4096;

char byte_of(std::int64_t task, int round) { return static_cast<char>('a' + (task * 5 + round) % 26); }

std::string piece_of(std::int64_t task, int round) {
  return std::string(static_cast<std::size_t>(kPiece), byte_of(task, round));
}

int level() {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  return level;
}

class MpiTurns : public testing::Test {
 protected:
  MpiTurns() { met = 0; }
  ~MpiTurns() override { slow = false; }

  tw_file* open(tw_group* group, const char* hints = nullptr) const {
    OpenWith options;
    options.hints(hints);
    tw_file* file = nullptr;
    EXPECT_EQ(tw_file_open(group, folder_.path("f").c_str(), TW_READ | TW_WRITE | TW_CREATE, options, &file), TW_OK)
        << tw_last_error();
    return file;
  }
  std::string content() const {
    std::ifstream in(folder_.path("f"), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  // Waits until a request is complete, without a call of the library.
  bool stays_away_until(const std::function<bool()>& complete) const {
    const auto late = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!complete() && std::chrono::steady_clock::now() < late) std::this_thread::yield();
    return complete();
  }

  Comm world_{MPI_COMM_WORLD};
  SharedFolder folder_{world_};
};

// Two hybrid groups of the same threads with different leaders: both threads may call MPI. While one leads a collective
// the other waits in it and must not advance the request of its own group.
TEST_F(MpiTurns, ThreadsOfOneCollectiveDoNotMeetInMpi) {
  if (level() != MPI_THREAD_SERIALIZED) GTEST_SKIP() << "MPI lets threads meet";
  const Comm other(world_.comm());
  tw_team* teams[2] = {};
  for (tw_team*& team : teams) ASSERT_EQ(tw_team_create(2, &team), TW_OK);
  const auto one = [&](int thread) {
    tw_group* mine[2] = {};
    tw_group* all[2] = {};
    for (int g = 0; g < 2; ++g) {
      ASSERT_EQ(tw_group_team(teams[g], (thread + g) % 2, &mine[g]), TW_OK);
      tw_group* const ranks = (thread + g) % 2 == 0 ? (g == 0 ? world_ : other).group() : nullptr;
      ASSERT_EQ(tw_group_hybrid(mine[g], ranks, &all[g]), TW_OK) << tw_last_error();
    }
    tw_file* file = open(all[1]);
    ASSERT_NE(file, nullptr);
    const std::int64_t task = tw_group_rank(all[1]);
    for (int round = 0; round < 20; ++round) {
      const std::string data = piece_of(task, round);
      tw_request* request = nullptr;
      ASSERT_EQ(tw_file_iwrite_at_all(file, data.data(), kPiece, task * kPiece, &request), TW_OK) << tw_last_error();
      for (int i = 0; i < 5; ++i) EXPECT_EQ(tw_group_barrier(all[0]), TW_OK) << tw_last_error();
      EXPECT_EQ(tw_request_wait(&request, nullptr), TW_OK) << tw_last_error();
    }
    EXPECT_EQ(tw_file_close(&file), TW_OK) << tw_last_error();
    for (int g = 0; g < 2; ++g) {
      tw_group_free(&all[g]);
      tw_group_free(&mine[g]);
    }
  };
  slow = true;
  std::thread second([&] { one(1); });
  one(0);
  second.join();
  slow = false;
  for (tw_team* team : teams) tw_team_free(&team);

  EXPECT_EQ(met.load(), 0);
}

// The program makes no library call while the progress thread completes a two-phase collective.
TEST_F(MpiTurns, WithThePromiseAThreadOfOursAdvancesRanks) {
  if (level() < MPI_THREAD_SERIALIZED) GTEST_SKIP() << "only the main thread may call MPI";
  ASSERT_EQ(tw_mpi_take_turns(), TW_OK) << tw_last_error();
  const std::int64_t ranks = tw_group_size(world_.group());
  tw_file* file = open(world_.group(), "method=aggregate");
  tw_progress mode = TW_PROGRESS_DEFAULT;
  ASSERT_EQ(tw_file_progress(file, TW_PROGRESS_THREAD, &mode), TW_OK);
  EXPECT_EQ(mode, TW_PROGRESS_THREAD);
  slow = level() == MPI_THREAD_SERIALIZED;
  std::string expected;
  for (int round = 0; round < 10; ++round) {
    const std::string data = piece_of(world_.rank(), round);
    tw_access access{};
    const tw_extent extent{const_cast<char*>(data.data()), kPiece, (round * ranks + world_.rank()) * kPiece};
    access.struct_size = sizeof access;
    access.direction = TW_ACCESS_WRITE;
    access.progress = TW_PROGRESS_THREAD;
    access.extents = &extent;
    access.n = 1;
    tw_request* request = nullptr;
    ASSERT_EQ(tw_file_iaccess_all(file, nullptr, &access, &request), TW_OK) << tw_last_error();
    for (std::int64_t rank = 0; rank < ranks; ++rank) expected += piece_of(rank, round);

    const bool written = stays_away_until([&] {
      int found = 0;
      tw_mpi_lock();
      MPI_Iprobe(MPI_ANY_SOURCE, 77, world_.comm(), &found, MPI_STATUS_IGNORE);
      tw_mpi_unlock();
      return content() == expected;
    });

    EXPECT_TRUE(written) << "round " << round;
    EXPECT_EQ(tw_request_wait(&request, nullptr), TW_OK) << tw_last_error();
    world_.barrier();
  }
  slow = false;
  EXPECT_EQ(tw_file_close(&file), TW_OK) << tw_last_error();
  if (level() == MPI_THREAD_SERIALIZED) {
    EXPECT_EQ(met.load(), 0);
  }
}

// A group of one rank makes no MPI call.
TEST_F(MpiTurns, OneRankMakesNoCallOfMpi) {
  if (world_.size() > 1) GTEST_SKIP() << "there are others";
  const std::string data = piece_of(0, 1);
  std::string read(data.size(), '?');
  tw_request* request = nullptr;
  const int before = calls.load();

  broken = true;
  tw_group* const group = world_.group();
  EXPECT_EQ(tw_group_barrier(group), TW_OK) << tw_last_error();
  tw_file* file = open(group, "method=aggregate");
  EXPECT_EQ(tw_file_write_at_all(file, data.data(), kPiece, 0), TW_OK) << tw_last_error();
  EXPECT_EQ(tw_file_iread_at_all(file, read.data(), kPiece, 0, &request), TW_OK) << tw_last_error();
  EXPECT_EQ(tw_request_wait(&request, nullptr), TW_OK) << tw_last_error();
  EXPECT_EQ(tw_file_sync(file), TW_OK) << tw_last_error();
  EXPECT_EQ(tw_file_close(&file), TW_OK) << tw_last_error();
  broken = false;

  EXPECT_EQ(calls.load(), before);
  EXPECT_EQ(read, data);
  EXPECT_STREQ(tw_group_kind(group), "mpi");
}

std::atomic<int> heard{0};
void hear(MPI_Comm*, int*, ...) { heard.fetch_add(1); }

// An MPI error becomes a status; the program's error handlers are not called.
TEST_F(MpiTurns, ErrorsOfMpiAreAStatus) {
  if (world_.size() == 1) GTEST_SKIP() << "one rank calls nothing that could fail";
  heard = 0;
  MPI_Comm mine = MPI_COMM_NULL;
  MPI_Comm_dup(world_.comm(), &mine);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(hear, &handler);
  MPI_Comm_set_errhandler(mine, handler);
  tw_group* group = nullptr;
  ASSERT_EQ(tw_group_mpi(mine, &group), TW_OK) << tw_last_error();
  tw_file* file = open(group);
  const std::string data = piece_of(world_.rank(), 1);
  tw_request* request = nullptr;

  broken = true;
  EXPECT_EQ(tw_group_barrier(group), TW_ERR_IO);
  EXPECT_NE(std::string(tw_last_error()).find("MPI failed in a barrier"), std::string::npos) << tw_last_error();
  EXPECT_EQ(tw_file_sync(file), TW_ERR_IO);
  EXPECT_EQ(tw_file_size(file, nullptr), TW_ERR_IO);
  broken = false;

  EXPECT_EQ(tw_file_write_at_all(file, data.data(), kPiece, world_.rank() * kPiece), TW_OK) << tw_last_error();
  EXPECT_EQ(tw_file_iwrite_at_all(file, data.data(), kPiece, world_.rank() * kPiece, &request), TW_OK);
  EXPECT_EQ(tw_request_wait(&request, nullptr), TW_OK) << tw_last_error();
  EXPECT_EQ(tw_file_close(&file), TW_OK) << tw_last_error();
  EXPECT_EQ(heard.load(), 0);
  MPI_Errhandler still = MPI_ERRHANDLER_NULL;
  MPI_Comm_get_errhandler(mine, &still);
  EXPECT_TRUE(still == handler);
  MPI_Errhandler_free(&still);
  tw_group_free(&group);
  MPI_Comm_free(&mine);
  MPI_Errhandler_free(&handler);
}

// Closing a file completes its outstanding requests; the request handles stay valid. The library keeps no communicator,
// as MPI_Finalize may follow.
TEST_F(MpiTurns, ClosingCompletesRequestsAndLeavesNothingBehind) {
  const std::int64_t ranks = tw_group_size(world_.group());
  freed_elsewhere = 0;
  std::string expected;
  for (int i = 0; i < 6; ++i)
    for (std::int64_t rank = 0; rank < ranks; ++rank) expected += piece_of(rank, i);
  std::vector<std::string> data;
  for (int i = 0; i < 6; ++i) data.push_back(piece_of(world_.rank(), i));
  for (int round = 0; round < 30; ++round) {
    tw_file* file = open(world_.group());
    tw_request* requests[6] = {};
    for (int i = 0; i < 6; ++i) {
      const tw_extent extent{data[static_cast<std::size_t>(i)].data(), kPiece, (i * ranks + world_.rank()) * kPiece};
      tw_access access{};
      access.struct_size = sizeof access;
      access.direction = TW_ACCESS_WRITE;
      access.progress = TW_PROGRESS_THREAD + (round / 4) % 2;
      access.extents = &extent;
      access.n = 1;
      ASSERT_EQ(tw_file_iaccess_all(file, nullptr, &access, &requests[i]), TW_OK) << tw_last_error();
    }
    EXPECT_EQ(tw_file_close(&file), TW_OK) << tw_last_error();
    if (world_.rank() == 0) {
      EXPECT_TRUE(content() == expected) << "round " << round;
      std::filesystem::remove(folder_.path("f"));
    }
    EXPECT_EQ(tw_request_waitall(6, requests, nullptr, nullptr), TW_OK) << tw_last_error();
    world_.barrier();
  }
  EXPECT_EQ(freed_elsewhere.load(), 0);
}

// Starting a request returns before any other rank has started it; the others wait for its first message.
TEST_F(MpiTurns, StartingWaitsForNobody) {
  if (world_.size() == 1) GTEST_SKIP() << "there is nobody else";
  tw_file* file = open(world_.group());
  for (const tw_progress mode : {TW_PROGRESS_THREAD, TW_PROGRESS_POLL}) {
    for (int first = 0; first < world_.size(); ++first) {
      const std::string data = piece_of(world_.rank(), mode);
      tw_access access{};
      const tw_extent extent{const_cast<char*>(data.data()), kPiece, world_.rank() * kPiece};
      access.struct_size = sizeof access;
      access.direction = TW_ACCESS_WRITE;
      access.progress = mode;
      access.extents = &extent;
      access.n = 1;
      tw_request* requests[3] = {};
      int go = 0;
      if (world_.rank() == first) {
        for (tw_request*& request : requests)
          ASSERT_EQ(tw_file_iaccess_all(file, nullptr, &access, &request), TW_OK) << tw_last_error();
        tw_mpi_lock();
        for (int rank = 0; rank < world_.size(); ++rank)
          if (rank != first) MPI_Send(&go, 1, MPI_INT, rank, 5, world_.comm());
        tw_mpi_unlock();
      } else {
        MPI_Recv(&go, 1, MPI_INT, first, 5, world_.comm(), MPI_STATUS_IGNORE);
        for (tw_request*& request : requests)
          ASSERT_EQ(tw_file_iaccess_all(file, nullptr, &access, &request), TW_OK) << tw_last_error();
      }
      EXPECT_EQ(tw_request_waitall(3, requests, nullptr, nullptr), TW_OK) << tw_last_error();
    }
  }
  EXPECT_EQ(tw_file_close(&file), TW_OK) << tw_last_error();
}

}  // namespace
}  // namespace thalweg::test
