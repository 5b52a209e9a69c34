// The team of a call: several root threads, nested regions, many threads, two teams on one file.
#include <omp.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <thread>

#include "omp_file/omp_file_support.hpp"
#include "omp_file/open_files.hpp"

namespace omp_file_test {
namespace {

// Fills a file with blocks of 8 bytes that identify their writer, and checks it.
void write_blocks(int fd, const std::string& path, int threads, int repeats) {
  on_team(threads, [&](int rank) {
    for (int i = 0; i < repeats; ++i) {
      const std::int32_t block[2] = {rank, i};
      EXPECT_EQ(omp_file_write_all(block, sizeof block, fd, 0), 0);
    }
  });
  const Bytes bytes = contents(path);
  ASSERT_EQ(bytes.size(), static_cast<std::size_t>(threads * repeats) * 8);
  const auto* blocks = reinterpret_cast<const std::int32_t*>(bytes.data());
  for (int k = 0; k < threads * repeats; ++k) {
    ASSERT_EQ(blocks[2 * k], k % threads) << "block " << k;
    ASSERT_EQ(blocks[2 * k + 1], k / threads) << "block " << k;
  }
}

TEST_F(OmpFile, TwoRootsUseTwoFilesAtOnce) {
  std::vector<std::thread> roots;
  for (const std::string name : {"left", "right"}) {
    roots.emplace_back([this, name] {
      const int fd = open_file(O_RDWR | O_CREAT | O_TRUNC, name);
      write_blocks(fd, path(name), 3, 200);
      EXPECT_EQ(omp_file_close_all(fd), 0);
    });
  }
  for (std::thread& root : roots) root.join();
}

TEST_F(OmpFile, NestedTeamsUseTwoFilesAtOnce) {
  on_team(2, [&](int outer) {
    int fd = -1;
    // The innermost team of this thread is the outer one, whose threads open different files one after another.
    on_team(1, [&](int) { fd = open_file(O_RDWR | O_CREAT | O_TRUNC, std::to_string(outer)); });
    write_blocks(fd, path(std::to_string(outer)), 2 + outer, 100);
    on_team(1, [&](int) { EXPECT_EQ(omp_file_close_all(fd), 0); });
  });
}

TEST_F(OmpFile, TheOuterTeamGoesOnWhenTheInnerOnesAreDone) {
  const int fd = open_file();

  on_team(3, [&](int outer) {
    EXPECT_EQ(omp_file_write_all("o", 1, fd, 0), 0);
    on_team(2, [&](int inner) {
      const std::string text(1, static_cast<char>('a' + 2 * outer + inner));
      EXPECT_EQ(omp_file_write_at_all(text.data(), 1, 10 + 2 * outer + inner, fd, 0), 0);
    });
    EXPECT_EQ(omp_file_write_all("p", 1, fd, 0), 0);
  });

  EXPECT_EQ(omp_file_close_all(fd), 0);
  const Bytes bytes = contents(path());
  ASSERT_EQ(bytes.size(), 16U);
  EXPECT_EQ(std::string(bytes.begin(), bytes.begin() + 6), "oooppp");
  EXPECT_EQ(std::string(bytes.begin() + 10, bytes.end()), "abcdef");
}

TEST_F(OmpFile, ThreadZeroOfTheOuterTeamMayBeBusyWithTheSameFileInside) {
  const int fd = open_file();

  // Outer threads other than 0 wait in their call while thread 0 lets an inner team use the file first.
  on_team(3, [&](int outer) {
    if (outer == 0) {
      on_team(2, [&](int inner) { EXPECT_EQ(omp_file_write_at_all("i", 1, inner, fd, 0), 0); });
    }
    EXPECT_EQ(omp_file_write_at_all("o", 1, 2 + outer, fd, 0), 0);
  });

  EXPECT_EQ(omp_file_close_all(fd), 0);
  const Bytes bytes = contents(path());
  EXPECT_EQ(std::string(bytes.begin(), bytes.end()), "iiooo");
}

TEST_F(OmpFile, TwoTeamsOnOneFileWorkOneAfterTheOther) {
  const int fd = open_file();
  std::vector<std::thread> roots;

  for (int root = 0; root < 2; ++root) {
    roots.emplace_back([&, root] {
      on_team(2, [&](int rank) {
        const std::string text(4, static_cast<char>('a' + 2 * root + rank));
        for (int i = 0; i < 200; ++i) EXPECT_EQ(omp_file_write_all(text.data(), 4, fd, 0), 0);
      });
    });
  }
  for (std::thread& root : roots) root.join();

  EXPECT_EQ(omp_file_close_all(fd), 0);
  const Bytes bytes = contents(path());
  ASSERT_EQ(bytes.size(), 2U * 2 * 200 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 8) {
    const std::string both(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                           bytes.begin() + static_cast<std::ptrdiff_t>(at) + 8);
    ASSERT_TRUE(both == "aaaabbbb" || both == "ccccdddd") << both << " at " << at;
  }
}

TEST_F(OmpFile, AFileThatIsClosedWhileOtherTeamsUseItIsBadFromThenOn) {
  const int fd = open_file();
  std::atomic<bool> under_way{false};
  std::thread user([&] {
    on_team(2, [&](int) {
      int returned = 0;
      while (returned == 0) {
        returned = omp_file_write_at_all("x", 1, 0, fd, 0);
        under_way = true;
      }
      EXPECT_EQ(errno, EBADF);
    });
  });

  while (!under_way) std::this_thread::yield();
  EXPECT_EQ(results_on(3, [&](int) { return omp_file_close_all(fd); }), all_ok(3));
  user.join();
}

// Closes the descriptor of a file behind the library, so that closing the file fails.
void spoil_closing(const std::string& path) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code ignored;
    if (std::filesystem::read_symlink(entry.path(), ignored) == path) close(std::stoi(entry.path().filename()));
  }
}

// The test holds the lock of the file, which blocks the call.
TEST_F(OmpFile, WhatClosingSaysIsToldByCloseAlthoughAnotherCallIsUnderWay) {
  using namespace thalweg::omp_file;
  const int fd = open_file();
  OpenFile* file = acquire(fd);
  file->busy.lock();
  std::thread user([&] { EXPECT_EQ(omp_file_seek_all(fd, 0, SEEK_SET, nullptr), 0); });
  while (file->references.load() < 3) std::this_thread::yield();
  spoil_closing(path());
  std::thread closer(
      [&] { EXPECT_EQ(results_on(2, [&](int) { return omp_file_close_all(fd); }), all_failed(2, EBADF)); });

  while (OpenFile* still = acquire(fd)) EXPECT_EQ(release(still), TW_OK);
  for (int i = 0; i < 1000; ++i) std::this_thread::yield();
  file->busy.unlock();
  EXPECT_EQ(release(file), TW_OK);
  user.join();
  closer.join();
}

// close cannot wait for a call that waits for this thread; the last thread of that call reports the error.
TEST_F(OmpFile, ClosingInsideDoesNotWaitForTheOuterTeam) {
  using namespace thalweg::omp_file;
  for (const bool spoilt : {false, true}) {
    const int fd = open_file();
    OpenFile* file = acquire(fd);
    std::atomic<int> failed{0};

    on_team(3, [&](int outer) {
      if (outer == 0) {
        while (file->gathering.load() == 0) std::this_thread::yield();
        EXPECT_EQ(release(file), TW_OK);
        if (spoilt) spoil_closing(path());
        on_team(1, [&](int) { EXPECT_EQ(omp_file_close_all(fd), 0); });
      }
      if (omp_file_seek_all(fd, 0, SEEK_SET, nullptr) != 0) ++failed;
    });

    EXPECT_EQ(failed, spoilt ? 1 : 0);
  }
}

// Each thread closes its own file with an outstanding operation; for a race detector.
TEST_F(OmpFile, FilesWithOperationsAreClosedAtOnce) {
  std::vector<std::thread> roots;
  for (const std::string name : {"left", "right"}) {
    roots.emplace_back([this, name] {
      for (int i = 0; i < 100; ++i) {
        const int fd = open_file(O_RDWR | O_CREAT | O_TRUNC, name);
        omp_file_request request = OMP_FILE_REQUEST_NULL;
        EXPECT_EQ(omp_file_iwrite_all("x", 1, fd, 0, &request), 0);
        EXPECT_EQ(omp_file_close_all(fd), 0);
        EXPECT_EQ(omp_file_wait_all(&request), 0);
      }
    });
  }
  for (std::thread& root : roots) root.join();
}

TEST_F(OmpFile, SixtyFourThreads) {
  const int fd = open_file();
  write_blocks(fd, path(), 64, 5);
  EXPECT_EQ(omp_file_close_all(fd), 0);
}

TEST_F(OmpFile, OutsideOfAnyRegionTheTeamIsOneThread) {
  const int fd = open_file();

  EXPECT_EQ(omp_file_write_all("alone", 5, fd, 0), 0);
  EXPECT_EQ(omp_file_last_count(), 5);
  std::thread([&] { EXPECT_EQ(omp_file_write_all("alone", 5, fd, 0), 0); }).join();

  EXPECT_EQ(omp_file_close_all(fd), 0);
  EXPECT_EQ(contents(path()).size(), 10U);
}

}  // namespace
}  // namespace omp_file_test
