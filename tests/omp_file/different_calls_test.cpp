// Threads of one region that make different calls at once: all get EINVAL, none waits, and the file stays usable.
#include <dlfcn.h>

#include <cerrno>
#include <string>

#include "omp_file/omp_file_support.hpp"
#include "thalweg/status.h"

namespace omp_file_test {
namespace {

struct Call {
  const char* name;
  std::function<int(int fd, const std::string& path)> call;
};

const std::vector<Call>& calls() {
  static const std::vector<Call> all = {
      {"open",
       [](int, const std::string& path) {
         int fd = -1;
         return omp_file_open_all(&fd, path.c_str(), O_RDWR);
       }},
      {"close", [](int fd, const std::string&) { return omp_file_close_all(fd); }},
      {"sync", [](int fd, const std::string&) { return omp_file_sync_all(fd); }},
      {"seek", [](int fd, const std::string&) { return omp_file_seek_all(fd, 0, SEEK_SET, nullptr); }},
      {"size",
       [](int fd, const std::string&) {
         off_t size = 0;
         return omp_file_size_all(fd, &size);
       }},
      {"write", [](int fd, const std::string&) { return omp_file_write_at_all("abc", 3, 0, fd, 0); }},
      {"iwrite",
       [](int fd, const std::string&) {
         omp_file_request request = OMP_FILE_REQUEST_NULL;
         return omp_file_iwrite_at_all("abc", 3, 0, fd, 0, &request);
       }},
      {"wait",
       [](int, const std::string&) {
         omp_file_request request = OMP_FILE_REQUEST_NULL;
         return omp_file_wait_all(&request);
       }},
      {"test",
       [](int, const std::string&) {
         omp_file_request request = OMP_FILE_REQUEST_NULL;
         int done = 0;
         return omp_file_test_all(&request, &done);
       }},
  };
  return all;
}

class DifferentCalls : public OmpFile {
 protected:
  // The file is still open and free for the next call.
  void expect_usable(int fd, int threads) const {
    const auto write = [&](int rank) { return omp_file_write_at_all("xyz", 3, rank * 3, fd, 0); };
    EXPECT_EQ(results_on(threads, write), all_ok(threads));
    std::string expected;
    for (int rank = 0; rank < threads; ++rank) expected += "xyz";
    EXPECT_EQ(contents(path()), Bytes(expected.begin(), expected.end()));
  }
};

TEST_F(DifferentCalls, AreRefusedOnAllThreads) {
  for (const int threads : {2, 3, 5}) {
    for (const Call& one : calls()) {
      for (const Call& other : calls()) {
        if (&one == &other) continue;
        SCOPED_TRACE(std::string(one.name) + " and " + other.name + " by " + std::to_string(threads));
        for (const int odd : {0, threads - 1}) {
          const int fd = open_file();
          const auto call = [&](int rank) { return (rank == odd ? one : other).call(fd, path()); };
          EXPECT_EQ(results_on(threads, call), all_failed(threads, EINVAL));
          expect_usable(fd, threads);
          EXPECT_EQ(omp_file_close_all(fd), 0);
        }
        if (HasFailure()) return;
      }
    }
  }
}

TEST_F(DifferentCalls, AreNamed) {
  const int fd = open_file();
  std::vector<std::string> said(2);
  on_team(2, [&](int rank) {
    EXPECT_EQ(rank == 0 ? omp_file_sync_all(fd) : omp_file_close_all(fd), -1);
    said[static_cast<std::size_t>(rank)] = tw_last_error();
  });
  EXPECT_NE(said[0].find("omp_file_sync_all"), std::string::npos) << said[0];
  EXPECT_NE(said[0].find("omp_file_close_all"), std::string::npos) << said[0];
  EXPECT_EQ(said[0], said[1]);
  EXPECT_EQ(omp_file_close_all(fd), 0);
}

// An outstanding operation stays outstanding.
TEST_F(DifferentCalls, LeaveARequestToBeWaitedFor) {
  const int fd = open_file();
  on_team(3, [&](int rank) {
    omp_file_request request = OMP_FILE_REQUEST_NULL;
    EXPECT_EQ(omp_file_iwrite_at_all("abc", 3, rank * 3, fd, 0, &request), 0);
    EXPECT_EQ(rank == 1 ? omp_file_close_all(fd) : omp_file_wait_all(&request), -1);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_EQ(omp_file_wait_all(&request), 0);
  });
  EXPECT_EQ(omp_file_close_all(fd), 0);
  EXPECT_EQ(contents(path()).size(), 9U);
}

struct Said {
  Result result;
  std::string text;
};

// clang-format off
void sync_in_a_task(int fd, Said* said) {
#pragma omp task firstprivate(fd, said)
  {
    said->result = {omp_file_sync_all(fd), errno};
    said->text = tw_last_error();
  }
#pragma omp taskwait
}
// clang-format on

TEST_F(DifferentCalls, InATaskTheCallFailsAndWaitsForNobody) {
  if (dlsym(RTLD_DEFAULT, "omp_in_explicit_task") == nullptr) GTEST_SKIP() << "this OpenMP runtime does not tell";
  const int fd = open_file();
  Said said;
  on_team(2, [&](int rank) {
    if (rank == 0) sync_in_a_task(fd, &said);
  });
  EXPECT_EQ(said.result, (Result{-1, EINVAL}));
  EXPECT_NE(said.text.find("omp_file_sync_all in an explicit task"), std::string::npos) << said.text;
  expect_usable(fd, 2);
  EXPECT_EQ(omp_file_close_all(fd), 0);
}

}  // namespace
}  // namespace omp_file_test
