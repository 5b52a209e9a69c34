// Lengths around 2^31 and 2^32. The memory is a reservation whose pages are touched only where the file has bytes; the
// file is sparse.
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "omp_file/omp_file_support.hpp"

namespace omp_file_test {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
constexpr bool kSanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool kSanitized = false;
#endif

constexpr long kLengths[] = {(1L << 31) - 1, 1L << 31, (1L << 32) + 1};

// Memory that takes no pages until written.
class Reservation {
 public:
  explicit Reservation(long nbytes) : nbytes_(static_cast<std::size_t>(nbytes)) {
    memory_ = static_cast<char*>(
        mmap(nullptr, nbytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  }
  ~Reservation() { munmap(memory_, nbytes_); }
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;
  char* get() { return memory_; }

 private:
  std::size_t nbytes_;
  char* memory_;
};

// Addresses of any length mapped to few pages: all to the same pages, except the last ones.
class RepeatedPages {
 public:
  explicit RepeatedPages(long nbytes) : nbytes_(static_cast<std::size_t>(nbytes)) {
    constexpr std::size_t kPages = std::size_t{1} << 24;
    memory_ = static_cast<char*>(
        mmap(nullptr, nbytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    const int pages = memfd_create("pages", 0);
    if (memory_ == MAP_FAILED || pages < 0 || ftruncate(pages, kPages) != 0) std::abort();
    for (std::size_t at = 0; at + kPages < nbytes_; at += kPages) {
      if (mmap(memory_ + at, kPages, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, pages, 0) == MAP_FAILED)
        std::abort();
    }
    close(pages);
  }
  ~RepeatedPages() { munmap(memory_, nbytes_); }
  RepeatedPages(const RepeatedPages&) = delete;
  RepeatedPages& operator=(const RepeatedPages&) = delete;
  char* get() { return memory_; }

 private:
  std::size_t nbytes_;
  char* memory_;
};

// Only the last bytes of the range are in the file.
TEST_F(OmpFile, LongReadsThatMeetTheEndOfTheFile) {
  store(path(), noise(1000, 1));
  const int fd = open_file(O_RDONLY);

  for (const long length : kLengths) {
    Reservation memory(length);
    on_team(2, [&](int rank) {
      EXPECT_EQ(omp_file_read_at_all(memory.get(), rank == 0 ? length : 1, 900, fd, 0), 0);
      EXPECT_EQ(omp_file_last_count(), rank == 0 ? 100 : 1);
    });
  }

  EXPECT_EQ(omp_file_close_all(fd), 0);
}

TEST_F(OmpFile, ALongReadOfASparseFile) {
  const long length = (1L << 31) + 10;
  const int posix = open(path().c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_EQ(pwrite(posix, "end", 3, length - 3), 3);
  EXPECT_EQ(close(posix), 0);
  const int fd = open_file(O_RDONLY);
  RepeatedPages memory(length);

  on_team(2, [&](int rank) {
    EXPECT_EQ(omp_file_read_all(memory.get(), rank == 0 ? 0 : length, fd, 0), 0);
    EXPECT_EQ(omp_file_last_count(), rank == 0 ? 0 : length);
  });

  EXPECT_EQ(std::string(memory.get() + length - 3, 3), "end");
  EXPECT_EQ(omp_file_close_all(fd), 0);
}

// Uses memory files when space is sufficient: twice the longest write.
TEST_F(OmpFile, LongWritesOfOneThreadOrAll) {
  if (kSanitized) GTEST_SKIP() << "too slow with sanitizers";
  std::error_code none;
  const auto space = std::filesystem::space("/dev/shm", none);
  if (none || space.available < std::uintmax_t{10} << 30) GTEST_SKIP() << "no room for a file of 4 GiB in /dev/shm";
  const std::string name = "/dev/shm/thalweg_large_" + std::to_string(getpid());
  int fd = -1;
  for (const long length : kLengths) {
    ASSERT_EQ(omp_file_open_all(&fd, name.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600), 0);
    ASSERT_EQ(unlink(name.c_str()), 0);
    RepeatedPages memory(length);
    memory.get()[0] = 'b';
    memory.get()[length - 1] = 'e';
    on_team(2, [&](int rank) {
      EXPECT_EQ(omp_file_write_all(memory.get(), rank == 0 ? length : 0, fd, 0), 0);
      EXPECT_EQ(omp_file_last_count(), rank == 0 ? length : 0);
      EXPECT_EQ(omp_file_write_at_all("end", 3, length + 3 * rank, fd, 0), 0);
    });
    char back[4] = {};
    EXPECT_EQ(omp_file_read_at_all(back, 4, length - 1, fd, 0), 0);
    EXPECT_EQ(std::string(back, 4), "eend");
    EXPECT_EQ(omp_file_read_at_all(back, 1, 0, fd, 0), 0);
    EXPECT_EQ(back[0], 'b');
    off_t size = 0;
    EXPECT_EQ(omp_file_size_all(fd, &size), 0);
    EXPECT_EQ(size, length + 6);
    EXPECT_EQ(omp_file_close_all(fd), 0);
  }
}

TEST_F(OmpFile, SmallPiecesFarApart) {
  const int fd = open_file();

  on_team(3, [&](int rank) {
    const off_t offset = rank == 0 ? 0 : kLengths[rank];
    EXPECT_EQ(omp_file_write_at_all("far", 3, offset, fd, 0), 0);
  });
  off_t size = 0;
  EXPECT_EQ(omp_file_size_all(fd, &size), 0);

  EXPECT_EQ(size, (off_t{1} << 32) + 1 + 3);
  EXPECT_EQ(omp_file_close_all(fd), 0);
}

// The process limits its files to 1 MiB.
TEST_F(OmpFile, AWriteThatTheSystemRefusesIsTheErrorOfAll) {
  rlimit old = {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  const rlimit low = {.rlim_cur = 1 << 20, .rlim_max = old.rlim_max};
  std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &low), 0);
  const int fd = open_file();

  EXPECT_EQ(results_on(3, [&](int rank) { return omp_file_write_at_all("x", 1, rank == 2 ? 1 << 20 : 0, fd, 0); }),
            all_failed(3, EFBIG));
  EXPECT_EQ(results_on(3, [&](int) { return omp_file_write_at_all("x", 1, 0, fd, 0); }), all_ok(3));

  EXPECT_EQ(omp_file_close_all(fd), 0);
  EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &old), 0);
}

}  // namespace
}  // namespace omp_file_test
