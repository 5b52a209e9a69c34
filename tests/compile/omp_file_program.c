/* A user program, built as C and as C++ by each compiler against one installed library: blocks in thread order, nested
 * regions, wrong arguments of one thread, requests, the listing of the paper. Prints "ok" and the number of OpenMP
 * threads.
 */
#include <errno.h>
#include <omp.h>
#include <omp_file.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { kThreads = 4 };

static int failures = 0;

static void check(int holds, const char* what) {
  if (holds) return;
#pragma omp critical
  {
    ++failures;
    fprintf(stderr, "thread %d: %s does not hold (errno %d)\n", omp_get_thread_num(), what, errno);
  }
}
#define CHECK(condition) check(condition, #condition)

static void one_file(const char* path, int threads) {
  int fd = -1;
#pragma omp parallel num_threads(threads)
  {
    char mine[100], back[100];
    const int rank = omp_get_thread_num();
    omp_file_request request;
    memset(mine, 'a' + rank, sizeof mine);
    CHECK(omp_file_open_all(&fd, path, O_RDWR | O_CREAT | O_TRUNC, 0600) == 0);
    CHECK(omp_file_write_all(mine, 100, fd, 0) == 0);
    CHECK(omp_file_iwrite_at_all(mine, 100, 1000 + 100 * rank, fd, 0, &request) == 0);
    CHECK(omp_file_wait_all(&request) == 0);
    CHECK(omp_file_write_all(mine, rank == threads - 1 ? -1 : 1, fd, 0) == -1 && errno == EINVAL);
    CHECK(omp_file_write_all(mine, 1, rank == 0 ? 1 : fd, 0) == -1 && errno == EBADF);
    CHECK(omp_file_read_at_all(back, 100, 1000 + 100 * ((rank + 1) % threads), fd, 0) == 0);
    CHECK(back[0] == 'a' + (rank + 1) % threads && back[99] == back[0]);
    CHECK(omp_file_close_all(fd) == 0);
    CHECK(omp_file_close_all(fd) == -1 && errno == EBADF);
  }
}

static int permissions_of(const char* path) {
  struct stat found;
  return stat(path, &found) == 0 ? (int)(found.st_mode & 07777) : -1;
}

/* Leaves different values in every thread's registers and below its stack. */
static long clutter(long a, long b, long c, long d, long e, long f) {
  volatile long stack[64];
  for (int i = 0; i < 64; ++i) stack[i] = a * i + f;
  return stack[(b + c + d + e) & 63];
}

/* Section 3.2 of "Specification and performance evaluation of parallel I/O interfaces for OpenMP" (IWOMP 2012), with 0
 * in place of NULL for the hint: creates a file with three arguments and keeps it open between two regions. */
static void listing_of_the_paper(void) {
  enum { kBytes = 1000 };
  static char buf[kBytes];
  int fd = -1;
  memset(buf, 'p', sizeof buf);
#pragma omp parallel num_threads(kThreads)
  {
    const long rank = omp_get_thread_num();
    long len = kBytes;
    clutter(rank, 77 * rank, 5 * rank + 1, 0x7eadbeefL * rank, 13 * rank, 17 * rank);
    CHECK(omp_file_open_all(&fd, "result.out", O_CREAT | O_RDWR) == 0);
    CHECK(omp_file_com_write_all(buf, len, fd, 0) == 0);
  }
#pragma omp parallel num_threads(kThreads)
  {
    CHECK(omp_file_com_write_all(buf, kBytes, fd, 0) == 0);
    CHECK(omp_file_close_all(fd) == 0);
  }
#pragma omp parallel num_threads(kThreads)
  {
    char private_buf[kBytes / 2];
    CHECK(omp_file_open_all(&fd, "result.out", O_RDONLY) == 0);
    CHECK(omp_file_read_all(private_buf, kBytes / 2, fd, 0) == 0);
    CHECK(private_buf[0] == 'p' && private_buf[kBytes / 2 - 1] == 'p');
    CHECK(omp_file_close_all(fd) == 0);
  }
}

/* Three arguments: 0666 before the umask; four: the given permissions; five: hints, too; a function pointer takes five. */
static void permissions(void) {
  int (*open_all)(int*, const char*, int, mode_t, const char*) = omp_file_open_all;
  const mode_t old = umask(022);
#pragma omp parallel num_threads(kThreads)
  {
    int fd = -1;
    const long rank = omp_get_thread_num();
    clutter(rank, rank, rank, rank, rank, rank);
    CHECK(omp_file_open_all(&fd, "three.dat", O_WRONLY | O_CREAT) == 0 && omp_file_close_all(fd) == 0);
    CHECK(omp_file_open_all(&fd, "four.dat", O_WRONLY | O_CREAT, 0640) == 0 && omp_file_close_all(fd) == 0);
    CHECK(omp_file_open_all(&fd, "five.dat", O_WRONLY | O_CREAT, 0600, "workers=2") == 0 &&
          omp_file_close_all(fd) == 0);
    CHECK(open_all(&fd, "pointer.dat", O_WRONLY | O_CREAT, 0604, NULL) == 0 && omp_file_close_all(fd) == 0);
    CHECK(omp_file_open_all(&fd, "wrong.dat", O_WRONLY | O_CREAT, 0200000) == -1 && errno == EINVAL);
  }
  umask(old);
  CHECK(permissions_of("three.dat") == 0644);
  CHECK(permissions_of("four.dat") == 0640);
  CHECK(permissions_of("pointer.dat") == 0604);
  CHECK(permissions_of("wrong.dat") == -1);
}

int main(void) {
  omp_set_dynamic(0);
  omp_set_max_active_levels(2);
  one_file("outer.dat", kThreads);
#pragma omp parallel num_threads(2)
  {
    char path[32];
    snprintf(path, sizeof path, "inner%d.dat", omp_get_thread_num());
    one_file(path, 2 + omp_get_thread_num());
  }
  one_file("alone.dat", 1);
  listing_of_the_paper();
  permissions();
  if (failures != 0) return 1;
  printf("ok, %d threads\n", kThreads);
  return 0;
}
