/* The threads of an OpenMP region write one file together, and read it back: each the block of its neighbour.
 *     OMP_NUM_THREADS=4 example_c_openmp field.dat */
#include <omp.h>
#include <omp_file.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  const char* path = argc > 1 ? argv[1] : "field.dat";
  int fd, failed = 0;
#pragma omp parallel reduction(| : failed)
  {
    double mine[1000] = {omp_get_thread_num() * 1000}, next[1000];
    off_t neighbour = (off_t)sizeof mine * ((omp_get_thread_num() + 1) % omp_get_num_threads());
    failed |= omp_file_open_all(&fd, path, O_RDWR | O_CREAT | O_TRUNC, 0666);
    failed |= omp_file_write_all(mine, sizeof mine, fd, 0);              /* in thread order */
    failed |= omp_file_read_at_all(next, sizeof next, neighbour, fd, 0); /* anywhere */
    failed |= omp_file_close_all(fd);
    printf("thread %d: the block of its neighbour begins with %.0f\n", omp_get_thread_num(), next[0]);
  }
  return failed != 0;
}
