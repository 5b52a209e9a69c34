// Outstanding operations: many at once, waited for in any order, tested, closed over, misused.
#include <linux/io_uring.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>

#include "omp_file/omp_file_support.hpp"

namespace omp_file_test {
namespace {

constexpr long kBlock = 300;

Bytes block_of(int rank, int i) { return Bytes(kBlock, static_cast<unsigned char>(1 + (rank * 31 + i) % 255)); }

class Nonblocking : public OmpFile, public ::testing::WithParamInterface<int> {};

TEST_P(Nonblocking, ManyAreWaitedForInAnotherOrder) {
  const int n = GetParam();
  const int many = n > 5 ? 10 : 100;
  const int fd = open_file();
  std::vector<int> order(static_cast<std::size_t>(many));
  for (int i = 0; i < many; ++i) order[static_cast<std::size_t>(i)] = i;
  std::ranges::shuffle(order, std::mt19937(3));

  on_team(n, [&](int rank) {
    std::vector<omp_file_request> requests(static_cast<std::size_t>(many));
    std::vector<Bytes> blocks;
    for (int i = 0; i < many; ++i) {
      blocks.push_back(block_of(rank, i));
      EXPECT_EQ(omp_file_iwrite_all(blocks.back().data(), kBlock, fd, 0, &requests[static_cast<std::size_t>(i)]), 0);
    }
    for (const int i : order) {
      EXPECT_EQ(omp_file_wait_all(&requests[static_cast<std::size_t>(i)]), 0);
      EXPECT_EQ(requests[static_cast<std::size_t>(i)], OMP_FILE_REQUEST_NULL);
      EXPECT_EQ(omp_file_last_count(), kBlock);
    }
  });

  EXPECT_EQ(omp_file_close_all(fd), 0);
  const Bytes bytes = contents(path());
  ASSERT_EQ(bytes.size(), static_cast<std::size_t>(n * many * kBlock));
  for (int k = 0; k < n * many; ++k) {
    ASSERT_EQ(bytes[static_cast<std::size_t>(k * kBlock)], block_of(k % n, k / n)[0]) << "block " << k;
  }
}

TEST_P(Nonblocking, TestingSaysTheSameOnAllThreadsUntilItIsDone) {
  const int n = GetParam();
  store(path(), noise(static_cast<std::size_t>(n) * kBlock - 10, 1));
  const int fd = open_file(O_RDONLY);

  on_team(n, [&](int rank) {
    Bytes mine(kBlock);
    omp_file_request request = 0;
    EXPECT_EQ(omp_file_iread_at_all(mine.data(), kBlock, rank * kBlock, fd, 0, &request), 0);
    int done = 0;
    while (done == 0) {
      ASSERT_EQ(omp_file_test_all(&request, &done), 0);
      EXPECT_EQ(done == 1, request == OMP_FILE_REQUEST_NULL);
    }
    EXPECT_EQ(omp_file_last_count(), rank == n - 1 ? kBlock - 10 : kBlock);
  });

  EXPECT_EQ(omp_file_close_all(fd), 0);
}

TEST_P(Nonblocking, OneSharedVariableForTheRequestWillDo) {
  const int fd = open_file();
  omp_file_request request = 0;

  on_team(GetParam(), [&](int) {
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(omp_file_iwrite_all("shared", 6, fd, 0, &request), 0);
      EXPECT_EQ(omp_file_wait_all(&request), 0);
    }
  });

  EXPECT_EQ(omp_file_close_all(fd), 0);
  EXPECT_EQ(contents(path()).size(), static_cast<std::size_t>(GetParam()) * 120);
}

TEST_P(Nonblocking, ClosingCompletesThemAndTheirRequestsStayValid) {
  const int fd = open_file();

  on_team(GetParam(), [&](int) {
    omp_file_request request = 0;
    EXPECT_EQ(omp_file_iwrite_all("before", 6, fd, 0, &request), 0);
    EXPECT_EQ(omp_file_close_all(fd), 0);
    EXPECT_EQ(omp_file_wait_all(&request), 0);
  });

  EXPECT_EQ(contents(path()).size(), static_cast<std::size_t>(GetParam()) * 6);
}

class NonblockingOfMany : public Nonblocking {};

// Independent of arrival order: wrong arguments of one thread leave the request to the next wait.
TEST_P(NonblockingOfMany, GarbageOfOneThreadLeavesTheRequestToTheNextWait) {
  const int n = GetParam();
  const int fd = open_file();

  on_team(n, [&](int rank) {
    const Bytes block = block_of(rank, 0);
    for (int round = 0; round < (n > 5 ? 3 : 100); ++round) {
      omp_file_request request = OMP_FILE_REQUEST_NULL;
      EXPECT_EQ(omp_file_iwrite_all(block.data(), kBlock, fd, 0, &request), 0);
      const bool bad = rank == 1 + round % (n - 1);
      errno = 0;
      EXPECT_EQ(omp_file_wait_all(bad ? nullptr : &request), -1);
      EXPECT_EQ(errno, EFAULT);
      omp_file_request garbage = -1;
      EXPECT_EQ(omp_file_wait_all(bad ? &garbage : &request), -1);
      EXPECT_EQ(errno, EINVAL);
      EXPECT_EQ(omp_file_wait_all(&request), 0);
      EXPECT_EQ(request, OMP_FILE_REQUEST_NULL);
    }
  });

  EXPECT_EQ(omp_file_close_all(fd), 0);
}

TEST_P(Nonblocking, ATeamOfAnotherSizeIsRefusedAndTheRequestStays) {
  const int n = GetParam();
  const int fd = open_file();
  omp_file_request request = 0;
  on_team(n, [&](int) { EXPECT_EQ(omp_file_iwrite_all("stay", 4, fd, 0, &request), 0); });

  const omp_file_request before = request;
  EXPECT_EQ(results_on(n + 1, [&](int) { return omp_file_wait_all(&request); }), all_failed(n + 1, EINVAL));
  EXPECT_EQ(request, before);
  EXPECT_EQ(results_on(n, [&](int) { return omp_file_wait_all(&request); }), all_ok(n));
  EXPECT_EQ(request, OMP_FILE_REQUEST_NULL);

  EXPECT_EQ(omp_file_close_all(fd), 0);
}

TEST_P(Nonblocking, AnotherRegionOfTheSameSizeMayWait) {
  const int fd = open_file();
  std::vector<Bytes> blocks;
  for (int rank = 0; rank < GetParam(); ++rank) blocks.push_back(block_of(rank, 0));
  omp_file_request request = 0;

  on_team(GetParam(), [&](int rank) {
    EXPECT_EQ(omp_file_iwrite_all(blocks[static_cast<std::size_t>(rank)].data(), kBlock, fd, 0, &request), 0);
  });
  on_team(GetParam(), [&](int) { EXPECT_EQ(omp_file_wait_all(&request), 0); });

  EXPECT_EQ(omp_file_close_all(fd), 0);
  EXPECT_EQ(contents(path()).size(), static_cast<std::size_t>(GetParam()) * kBlock);
}

INSTANTIATE_TEST_SUITE_P(Teams, Nonblocking, ::testing::Values(1, 2, 3, 5, 64));
INSTANTIATE_TEST_SUITE_P(Teams, NonblockingOfMany, ::testing::Values(2, 3, 5, 64));

TEST_F(OmpFile, ARequestThatIsOverIsGarbage) {
  const int fd = open_file();

  on_team(3, [&](int) {
    omp_file_request request = 0;
    EXPECT_EQ(omp_file_iwrite_all("x", 1, fd, 0, &request), 0);
    omp_file_request copy = request;
    EXPECT_EQ(omp_file_wait_all(&request), 0);
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(omp_file_wait_all(&copy), -1);
      EXPECT_EQ(errno, EINVAL);
      EXPECT_EQ(omp_file_iwrite_all("x", 1, fd, 0, &request), 0);
      EXPECT_NE(request, copy);
      EXPECT_EQ(omp_file_wait_all(&request), 0);
    }
  });

  EXPECT_EQ(omp_file_close_all(fd), 0);
}

TEST_F(OmpFile, ThreadsThatNameDifferentRequestsGetEinvalAndBothStay) {
  const int fd = open_file();

  on_team(2, [&](int rank) {
    omp_file_request first = 0;
    omp_file_request second = 0;
    EXPECT_EQ(omp_file_iwrite_all("x", 1, fd, 0, &first), 0);
    EXPECT_EQ(omp_file_iwrite_all("y", 1, fd, 0, &second), 0);
    EXPECT_EQ(omp_file_wait_all(rank == 0 ? &first : &second), -1);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_EQ(omp_file_wait_all(&second), 0);
    EXPECT_EQ(omp_file_wait_all(&first), 0);
  });

  EXPECT_EQ(omp_file_close_all(fd), 0);
}

TEST_F(OmpFile, NoRequestIsComplete) {
  on_team(3, [&](int) {
    omp_file_request none = OMP_FILE_REQUEST_NULL;
    int done = 0;
    EXPECT_EQ(omp_file_wait_all(&none), 0);
    EXPECT_EQ(omp_file_test_all(&none, &done), 0);
    EXPECT_EQ(done, 1);
  });
}

bool kernel_has_io_uring() {
  io_uring_params params{};
  const long ring = syscall(SYS_io_uring_setup, 1, &params);
  if (ring >= 0) close(static_cast<int>(ring));
  return ring >= 0;
}

// Threads of this process, without the kernel's io_uring workers.
int count_threads() {
  constexpr unsigned kIoWorker = 0x10;  // PF_IO_WORKER of linux/sched.h
  int n = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string line;
    std::getline(std::ifstream(task.path() / "stat"), line);
    std::istringstream behind_name(line.substr(line.rfind(')') + 1));
    std::string skipped;
    unsigned flags = kIoWorker;  // a thread that has exited
    for (int i = 0; i < 6; ++i) behind_name >> skipped;
    behind_name >> flags;
    n += (flags & kIoWorker) == 0 ? 1 : 0;
  }
  return n;
}

TEST_F(OmpFile, OperationsTakeNoThreadWhereTheKernelCarriesThem) {
  if (std::getenv("THALWEG_PROGRESS") != nullptr || std::getenv("THALWEG_URING") != nullptr || !kernel_has_io_uring())
    GTEST_SKIP() << "io_uring is not there, or not to be used";
  const int fd = open_file();
  on_team(2, [&](int) {});  // starts the threads of the runtime
  // Those of a larger team before may still end.
  int before = count_threads();
  for (int now = 0, same = 0; same < 20; before = now) {
    usleep(1000);
    now = count_threads();
    same = now == before ? same + 1 : 0;
  }
  Bytes data(1 << 20);

  on_team(2, [&](int rank) {
    omp_file_request request = 0;
    const long half = static_cast<long>(data.size() / 2);
    EXPECT_EQ(omp_file_iwrite_at_all(data.data() + rank * half, half, rank * half, fd, 0, &request), 0);
    if (rank == 0) {
      EXPECT_EQ(count_threads(), before);
    }
    EXPECT_EQ(omp_file_wait_all(&request), 0);
  });

  EXPECT_EQ(count_threads(), before);
  EXPECT_EQ(omp_file_close_all(fd), 0);
}

}  // namespace
}  // namespace omp_file_test
