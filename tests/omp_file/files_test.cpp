// Opening, closing and descriptors.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "omp_file/omp_file_support.hpp"
#include "omp_file/open_files.hpp"
#include "thalweg/multifile.h"

namespace omp_file_test {
namespace {

TEST_F(OmpFile, ADescriptorIsTheSameOnAllThreadsAndNoPosixOne) {
  std::vector<int> fds(5, -1);

  EXPECT_EQ(results_on(5,
                       [&](int rank) {
                         return omp_file_open_all(&fds[static_cast<std::size_t>(rank)], path().c_str(),
                                                  O_RDWR | O_CREAT, 0640);
                       }),
            all_ok(5));

  EXPECT_EQ(fds, std::vector<int>(5, fds[0]));
  EXPECT_GE(fds[0], 1 << 30);
  char byte = 0;
  EXPECT_EQ(read(fds[0], &byte, 1), -1);
  EXPECT_EQ(errno, EBADF);
  struct stat information = {};
  EXPECT_EQ(stat(path().c_str(), &information), 0);
  const mode_t mask = umask(0);
  umask(mask);
  EXPECT_EQ(information.st_mode & 07777, 0640U & ~mask);
  EXPECT_EQ(results_on(5, [&](int) { return omp_file_close_all(fds[0]); }), all_ok(5));
}

TEST_F(OmpFile, OneSharedVariableForTheDescriptorWillDo) {
  int fd = -1;

  on_team(5, [&](int) {
    EXPECT_EQ(omp_file_open_all(&fd, path().c_str(), O_RDWR | O_CREAT, 0600), 0);
    EXPECT_EQ(omp_file_write_all("abc", 3, fd, 0), 0);
    EXPECT_EQ(omp_file_close_all(fd), 0);
  });

  EXPECT_EQ(contents(path()).size(), 15U);
}

TEST_F(OmpFile, APosixDescriptorIsEbadfEverywhere) {
  const int posix = open(path().c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_GE(posix, 0);
  off_t size = 0;

  EXPECT_EQ(results_on(3, [&](int) { return omp_file_close_all(posix); }), all_failed(3, EBADF));
  EXPECT_EQ(results_on(3, [&](int) { return omp_file_size_all(posix, &size); }), all_failed(3, EBADF));
  EXPECT_EQ(results_on(3, [&](int) { return omp_file_sync_all(posix); }), all_failed(3, EBADF));
  for (const Form& form : forms()) {
    EXPECT_EQ(results_on(3, [&](int) { return run(form, {.fd = posix}); }), all_failed(3, EBADF)) << form.name;
  }

  EXPECT_EQ(close(posix), 0);
}

TEST_F(OmpFile, AClosedDescriptorStaysBadAlthoughOthersAreOpened) {
  const int closed = open_file();
  EXPECT_EQ(results_on(2, [&](int) { return omp_file_close_all(closed); }), all_ok(2));
  std::set<int> seen = {closed};

  for (int i = 0; i < 300; ++i) {
    const int fd = open_file();
    EXPECT_TRUE(seen.insert(fd).second) << "descriptor " << fd << " came back after " << i;
    EXPECT_EQ(omp_file_close_all(fd), 0);
    EXPECT_EQ(results_on(2, [&](int) { return omp_file_close_all(closed); }), all_failed(2, EBADF));
    EXPECT_EQ(results_on(2, [&](int) { return omp_file_write_all("x", 1, closed, 0); }), all_failed(2, EBADF));
  }
}

TEST_F(OmpFile, OpenedOutsideUsedInsideByTeamsOfOtherSizesClosedOutside) {
  const int fd = open_file();

  for (const int n : {5, 1, 3}) {
    EXPECT_EQ(results_on(n, [&](int) { return omp_file_write_all("ab", 2, fd, 0); }), all_ok(n));
  }

  EXPECT_EQ(omp_file_close_all(fd), 0);
  EXPECT_EQ(contents(path()).size(), 18U);
}

TEST_F(OmpFile, OpenedInsideUsedOutside) {
  int fd = -1;
  EXPECT_EQ(results_on(3, [&](int) { return omp_file_open_all(&fd, path().c_str(), O_RDWR | O_CREAT, 0600); }),
            all_ok(3));

  EXPECT_EQ(omp_file_write_all("outside", 7, fd, 0), 0);
  EXPECT_EQ(results_on(5, [&](int) { return omp_file_close_all(fd); }), all_ok(5));

  EXPECT_EQ(contents(path()).size(), 7U);
}

TEST_F(OmpFile, WhatOpenSaysReachesAllThreads) {
  store(path(), noise(10, 1));
  int fd = 17;
  const auto open_with = [&](const std::string& name, int flags) {
    return results_on(3, [&](int) { return omp_file_open_all(&fd, name.c_str(), flags, 0600); });
  };

  EXPECT_EQ(open_with(path("none"), O_RDONLY), all_failed(3, ENOENT));
  EXPECT_EQ(open_with(path(), O_RDWR | O_CREAT | O_EXCL), all_failed(3, EEXIST));
  EXPECT_EQ(open_with("", O_RDONLY), all_failed(3, ENOENT));
  EXPECT_EQ(open_with(path("no/such/folder"), O_RDWR | O_CREAT), all_failed(3, ENOENT));
  EXPECT_EQ(fd, 17);
}

TEST_F(OmpFile, FlagsOfOpen) {
  store(path(), Bytes(10, 'a'));
  const int appended = open_file(O_WRONLY | O_APPEND);
  EXPECT_EQ(results_on(2, [&](int) { return omp_file_write_all("b", 1, appended, 0); }), all_ok(2));
  EXPECT_EQ(omp_file_close_all(appended), 0);
  EXPECT_EQ(contents(path()).size(), 12U);

  const int truncated = open_file(O_WRONLY | O_TRUNC);
  off_t size = -1;
  EXPECT_EQ(results_on(2, [&](int) { return omp_file_size_all(truncated, &size); }), all_ok(2));
  EXPECT_EQ(size, 0);
  EXPECT_EQ(omp_file_close_all(truncated), 0);

  const int exclusive = open_file(O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, "new");
  EXPECT_EQ(omp_file_close_all(exclusive), 0);
}

TEST_F(OmpFile, SynchronousFilesWorkAsOthersDo) {
  for (const int flag : {O_SYNC, O_DSYNC}) {
    const int fd = open_file(O_RDWR | O_CREAT | O_TRUNC | flag);
    EXPECT_EQ(results_on(3, [&](int) { return omp_file_write_all("abc", 3, fd, 0); }), all_ok(3));
    const auto results = results_on(3, [&](int) {
      omp_file_request request = 0;
      if (omp_file_iwrite_all("def", 3, fd, 0, &request) != 0) return -1;
      return omp_file_wait_all(&request);
    });
    EXPECT_EQ(results, all_ok(3));
    EXPECT_EQ(omp_file_close_all(fd), 0);
    EXPECT_EQ(contents(path()).size(), 18U);
  }
}

TEST_F(OmpFile, SeekAndSizeTellAllThreads) {
  const int fd = open_file();
  EXPECT_EQ(results_on(3, [&](int) { return omp_file_write_all("0123456789", 10, fd, 0); }), all_ok(3));
  std::vector<off_t> numbers(3, -1);
  const auto number = [&](int rank) { return &numbers[static_cast<std::size_t>(rank)]; };

  EXPECT_EQ(results_on(3, [&](int r) { return omp_file_size_all(fd, number(r)); }), all_ok(3));
  EXPECT_EQ(numbers, std::vector<off_t>(3, 30));
  EXPECT_EQ(results_on(3, [&](int r) { return omp_file_seek_all(fd, -4, SEEK_END, number(r)); }), all_ok(3));
  EXPECT_EQ(numbers, std::vector<off_t>(3, 26));
  EXPECT_EQ(results_on(3, [&](int r) { return omp_file_seek_all(fd, -20, SEEK_CUR, number(r)); }), all_ok(3));
  EXPECT_EQ(numbers, std::vector<off_t>(3, 6));
  EXPECT_EQ(results_on(3, [&](int r) { return omp_file_seek_all(fd, -7, SEEK_CUR, number(r)); }),
            all_failed(3, EINVAL));
  EXPECT_EQ(numbers, std::vector<off_t>(3, 6));
  EXPECT_EQ(results_on(3, [&](int) { return omp_file_sync_all(fd); }), all_ok(3));

  EXPECT_EQ(omp_file_close_all(fd), 0);
}

TEST_F(OmpFile, AFileThatIsRemovedWhileOpenGoesOn) {
  const int fd = open_file();
  EXPECT_EQ(results_on(3, [&](int) { return omp_file_write_all("abc", 3, fd, 0); }), all_ok(3));
  ASSERT_EQ(unlink(path().c_str()), 0);

  EXPECT_EQ(results_on(3, [&](int) { return omp_file_write_all("def", 3, fd, 0); }), all_ok(3));
  char back[18] = {};
  EXPECT_EQ(omp_file_read_at_all(back, 18, 0, fd, 0), 0);
  EXPECT_EQ(std::string(back, 18), "abcabcabcdefdefdef");

  EXPECT_EQ(results_on(3, [&](int) { return omp_file_close_all(fd); }), all_ok(3));
  EXPECT_NE(access(path().c_str(), F_OK), 0);
}

// Each thread accesses its own 64 bytes in two pieces.
int call_on(const Form& form, int fd, char* memory, int rank) {
  const iovec pieces[2] = {{memory, 20}, {memory + 20, 44}};
  const off_t at = form.common ? 0 : rank * 64;
  const off_t offsets[2] = {at, at + 20};
  return run(form, {memory, 64, at, pieces, offsets, 2, fd, 0});
}

TEST_F(OmpFile, EveryCallWorksOnAFileThatWasRemoved) {
  for (const Form& form : forms()) {
    store(path(), Bytes(256, 'o'));
    const int fd = open_file(O_RDWR);
    ASSERT_EQ(unlink(path().c_str()), 0);
    char memory[3][64] = {};

    EXPECT_EQ(results_on(3, [&](int rank) { return call_on(form, fd, memory[form.common ? 0 : rank], rank); }),
              all_ok(3))
        << form.name;

    char back[192] = {};
    EXPECT_EQ(omp_file_read_at_all(back, 192, 0, fd, 0), 0);
    const std::size_t written = form.writes ? (form.common ? 64 : 192) : 0;
    EXPECT_EQ(static_cast<std::size_t>(std::count(back, back + 192, '\0')), written) << form.name;
    EXPECT_EQ(results_on(3, [&](int) { return omp_file_close_all(fd); }), all_ok(3));
    EXPECT_NE(access(path().c_str(), F_OK), 0);
  }
}

TEST_F(OmpFile, EveryCallRefusesADescriptorThatWasClosed) {
  const int fd = open_file();
  EXPECT_EQ(results_on(3, [&](int) { return omp_file_close_all(fd); }), all_ok(3));
  static char memory[64];
  off_t number = 0;

  for (const Form& form : forms()) {
    EXPECT_EQ(results_on(3, [&](int rank) { return call_on(form, fd, memory, rank); }), all_failed(3, EBADF))
        << form.name;
  }
  EXPECT_EQ(results_on(3, [&](int) { return omp_file_close_all(fd); }), all_failed(3, EBADF));
  EXPECT_EQ(results_on(3, [&](int) { return omp_file_sync_all(fd); }), all_failed(3, EBADF));
  EXPECT_EQ(results_on(3, [&](int) { return omp_file_size_all(fd, &number); }), all_failed(3, EBADF));
  EXPECT_EQ(results_on(3, [&](int) { return omp_file_seek_all(fd, 0, SEEK_SET, &number); }), all_failed(3, EBADF));
}

// The file has 100 bytes: all of thread 0, half of thread 1, none of thread 2.
TEST_F(OmpFile, EveryReadStopsAtTheEndOfTheFile) {
  const Bytes bytes = noise(100, 4);
  store(path(), bytes);
  for (const Form& form : forms()) {
    if (form.writes) continue;
    const int fd = open_file(O_RDONLY);
    if (form.common) {
      EXPECT_EQ(omp_file_seek_all(fd, 64, SEEK_SET, nullptr), 0);
    }
    std::string memory(192, '#');
    std::vector<long> counts(3, -1);

    const auto results = results_on(3, [&](int rank) {
      char* mine = memory.data() + (form.common ? 0 : 64 * rank);
      const iovec pieces[2] = {{mine, 20}, {mine + 20, 44}};
      const off_t at = form.common ? 64 : rank * 64;
      const off_t offsets[2] = {at, at + 20};
      const int returned = run(form, {mine, 64, at, pieces, offsets, 2, fd, 0});
      counts[static_cast<std::size_t>(rank)] = omp_file_last_count();
      return returned;
    });

    EXPECT_EQ(results, all_ok(3)) << form.name;
    EXPECT_EQ(counts, form.common ? std::vector<long>(3, 36) : (std::vector<long>{64, 36, 0})) << form.name;
    std::string expected(bytes.begin() + (form.common ? 64 : 0), bytes.end());
    expected.resize(192, '#');
    EXPECT_TRUE(memory == expected) << form.name;
    EXPECT_EQ(omp_file_close_all(fd), 0);
  }
}

TEST_F(OmpFile, TooManyOpenFilesIsEmfile) {
  store(path(), noise(1, 1));
  std::vector<int> fds;
  int fd = -1;
  while (fds.size() < 5000 && omp_file_open_all(&fd, path().c_str(), O_RDONLY) == 0) fds.push_back(fd);

  EXPECT_EQ(errno, EMFILE);  // the limit of the library or of the process
  EXPECT_LE(fds.size(), 4096U);
  for (const int open : fds) EXPECT_EQ(omp_file_close_all(open), 0);
  EXPECT_EQ(omp_file_open_all(&fd, path().c_str(), O_RDONLY), 0);
  EXPECT_EQ(omp_file_close_all(fd), 0);
}

// OMP_FILE_HINTS during a test.
class HintsOfTheEnvironment {
 public:
  explicit HintsOfTheEnvironment(const char* hints) { setenv("OMP_FILE_HINTS", hints, 1); }
  ~HintsOfTheEnvironment() { unsetenv("OMP_FILE_HINTS"); }
};

// How a write to a file that three threads opened with these hints is carried out.
std::string plan_with(const std::string& path, const char* hints) {
  int fd = -1;
  EXPECT_EQ(results_on(3, [&](int) { return omp_file_open_all(&fd, path.c_str(), O_RDWR | O_CREAT, 0600, hints); }),
            all_ok(3));
  thalweg::omp_file::OpenFile* const file = thalweg::omp_file::acquire(fd);
  EXPECT_EQ(tw_file_write_at_all(file->handle, "abcd", 4, 0), TW_OK);
  std::string plan = tw_file_last_plan(file->handle);
  EXPECT_EQ(thalweg::omp_file::release(file), TW_OK);
  EXPECT_EQ(results_on(3, [&](int) { return omp_file_close_all(fd); }), all_ok(3));
  return plan.substr(0, plan.find(' '));
}

TEST_F(OmpFile, HintsOfAnOpenGoBeforeThoseOfTheEnvironment) {
  EXPECT_EQ(plan_with(path(), "method=naive"), "naive");
  EXPECT_EQ(plan_with(path(), "workers=2,method=shared"), "shared");
  const HintsOfTheEnvironment hints("method=naive");
  EXPECT_EQ(plan_with(path(), nullptr), "naive");
  EXPECT_EQ(plan_with(path(), "method=shared"), "shared");
}

// Bytes that this thread has written to files; -1: the kernel does not count them.
std::int64_t bytes_written() {
  std::ifstream counts("/proc/thread-self/io");
  std::string name;
  std::int64_t value = -1;
  while (counts >> name >> value)
    if (name == "wchar:") return value;
  return -1;
}

// The threads of a team that write, where a call is left to these workers.
std::set<int> writers_of(const std::string& path, int threads, int workers) {
  constexpr long kEach = 1 << 18;
  const std::string hints = "method=shared,workers=" + std::to_string(workers);
  std::vector<char> wrote(static_cast<std::size_t>(threads));
  int fd = -1;
  EXPECT_EQ(results_on(threads,
                       [&](int rank) {
                         if (omp_file_open_all(&fd, path.c_str(), O_RDWR | O_CREAT, 0600, hints.c_str()) != 0)
                           return -1;
                         const std::vector<char> bytes(kEach, static_cast<char>('a' + rank));
                         const std::int64_t before = bytes_written();
                         const int done = omp_file_write_all(bytes.data(), kEach, fd, 0);
                         // Sanitizers write a few bytes to a pipe in any thread.
                         wrote[static_cast<std::size_t>(rank)] = bytes_written() - before > kEach / 2;
                         return omp_file_close_all(fd) == 0 ? done : -1;
                       }),
            all_ok(threads));
  std::set<int> ranks;
  for (int rank = 0; rank < threads; ++rank)
    if (wrote[static_cast<std::size_t>(rank)] != 0) ranks.insert(rank);
  return ranks;
}

TEST_F(OmpFile, WorkersAreSpreadOverTheThreads) {
  if (bytes_written() < 0) GTEST_SKIP() << "the kernel does not count the bytes of a thread";
  EXPECT_EQ(writers_of(path(), 4, 2), (std::set{0, 2}));
  EXPECT_EQ(writers_of(path(), 8, 3), (std::set{0, 2, 5}));
  EXPECT_EQ(writers_of(path(), 8, 5), (std::set{0, 1, 3, 4, 6}));
  EXPECT_EQ(writers_of(path(), 3, 3), (std::set{0, 1, 2}));
}

TEST_F(OmpFile, WrongHintsFailOnAllThreadsAndLeaveTheDescriptor) {
  const auto open_with = [&](const char* hints) {
    int fd = 77;
    const auto results =
        results_on(3, [&](int) { return omp_file_open_all(&fd, path().c_str(), O_RDWR | O_CREAT, 0600, hints); });
    EXPECT_EQ(fd, 77);
    return results;
  };
  EXPECT_EQ(open_with("no_such=1"), all_failed(3, EINVAL));
  EXPECT_EQ(open_with("workers=none"), all_failed(3, EINVAL));
  const HintsOfTheEnvironment hints("workers=none");
  EXPECT_EQ(open_with(nullptr), all_failed(3, EINVAL));
  int fd = 77;
  EXPECT_EQ(omp_file_open_all(&fd, path().c_str(), O_RDWR | O_CREAT, 0600, "io=direct"), -1);
  for (const char* part : {"'workers'", "'workers=none' of OMP_FILE_HINTS", "'io=direct' of the call"})
    EXPECT_NE(std::string(tw_last_error()).find(part), std::string::npos) << tw_last_error();
}

TEST_F(OmpFile, HintsThatDifferFailOnAllThreads) {
  int fd = 77;
  EXPECT_EQ(results_on(3,
                       [&](int rank) {
                         const char* const hints = rank == 1 ? "workers=2" : "workers=3";
                         return omp_file_open_all(&fd, path().c_str(), O_RDWR | O_CREAT, 0600, hints);
                       }),
            all_failed(3, EINVAL));
  EXPECT_EQ(fd, 77);
}

// The physical file of a multifile would be destroyed.
TEST_F(OmpFile, AMultifileIsNotWritten) {
  tw_multifile* multifile = nullptr;
  ASSERT_EQ(tw_multifile_open(nullptr, path().c_str(), TW_CREATE | TW_TRUNCATE, nullptr, &multifile), TW_OK)
      << tw_last_error();
  ASSERT_EQ(tw_multifile_close(&multifile), TW_OK);
  const Bytes before = contents(path());
  for (const int flags : {O_RDWR, O_WRONLY, O_RDWR | O_CREAT | O_TRUNC}) {
    std::vector<int> fds(3, -1);
    EXPECT_EQ(results_on(3,
                         [&](int rank) {
                           return omp_file_open_all(&fds[static_cast<std::size_t>(rank)], path().c_str(), flags, 0600);
                         }),
              all_failed(3, EPERM));
    EXPECT_EQ(contents(path()), before);
  }
  EXPECT_EQ(results_on(3,
                       [&](int) {
                         int fd = -1;
                         if (omp_file_open_all(&fd, path().c_str(), O_RDONLY, 0) != 0) return -1;
                         return omp_file_close_all(fd);
                       }),
            all_ok(3));
}

}  // namespace
}  // namespace omp_file_test
