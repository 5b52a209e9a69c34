// A program that finalizes MPI while a request of one task is outstanding, which needs no MPI.
#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "support/groups/process_mpi.hpp"
#include "thalweg/thalweg.h"

namespace thalweg::test {
namespace {

int sleep_a_little(MPI_Comm, int, void*, void*) {
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // the thread of the library comes to rest
  return MPI_SUCCESS;
}

// The thread rests while MPI ends, and advances the request afterwards: a test of the request does not.
TEST(MpiFinalizeAlone, ARequestOfOneTaskGoesOn) {
  const std::string path = std::filesystem::temp_directory_path() / ("finalize_alone." + std::to_string(::getpid()));
  tw_group *ranks = nullptr, *self = nullptr;
  ASSERT_EQ(tw_group_mpi(MPI_COMM_WORLD, &ranks), TW_OK) << tw_last_error();
  ASSERT_EQ(tw_group_self(&self), TW_OK) << tw_last_error();
  tw_file* file = nullptr;
  ASSERT_EQ(tw_file_open(self, path.c_str(), TW_WRITE | TW_CREATE, nullptr, &file), TW_OK) << tw_last_error();
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, sleep_a_little, &key, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);

  std::vector<char> data(std::size_t{64} << 20, 'd');
  const tw_extent extent{data.data(), static_cast<std::int64_t>(data.size()), 0};
  tw_access access{};
  access.struct_size = sizeof access;
  access.direction = TW_ACCESS_WRITE;
  access.progress = TW_PROGRESS_THREAD;
  access.extents = &extent;
  access.n = 1;
  tw_request* request = nullptr;
  ASSERT_EQ(tw_file_iaccess(file, &access, &request), TW_OK) << tw_last_error();
  EXPECT_EQ(MPI_Finalize(), MPI_SUCCESS);
  std::size_t moved = 0;
  for (int done = 0; done == 0;) ASSERT_EQ(tw_request_test(&request, &done, &moved), TW_OK) << tw_last_error();
  EXPECT_EQ(moved, data.size());
  EXPECT_EQ(tw_file_close(&file), TW_OK) << tw_last_error();
  tw_group_free(&self);
  tw_group_free(&ranks);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace thalweg::test
