/* A user's program, built by each compiler against one installed library: blocks in thread order, nested regions,
 * garbage of one thread, requests. Prints "ok" and the OpenMP threads it had. */
#include <errno.h>
#include <omp.h>
#include <omp_file.h>
#include <stdio.h>
#include <string.h>

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
  if (failures != 0) return 1;
  printf("ok, %d threads\n", kThreads);
  return 0;
}
