/* A program that wrote a file per rank with fwrite keeps its fwrite: all ranks write into one multifile.
 *     mpiexec -n 4 example_c_fwrite dump.tw */
#include <mpi.h>
#include <stdio.h>
#include <thalweg/group_mpi.h>
#include <thalweg/thalweg.h>

#include "check.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const char* path = argc > 1 ? argv[1] : "dump.tw";
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double values[1000];
  const size_t n = sizeof values / sizeof values[0];
  for (size_t i = 0; i < n; ++i) values[i] = rank + (double)i / 1000;

  tw_group* group;
  tw_multifile* file;
  FILE* out;
  check(tw_group_mpi(MPI_COMM_WORLD, &group));
  check(tw_multifile_open(group, path, TW_CREATE | TW_TRUNCATE, NULL, &file)); /* by all ranks: one multifile */
  check(tw_multifile_fopen(file, rank, "w", &out));                            /* the logical file of this rank */
  fwrite(values, sizeof values[0], n, out);                                    /* as before, any number of times */
  fclose(out);
  check(tw_multifile_close(&file)); /* by all ranks: complete from here on */
  tw_group_free(&group);

  MPI_Finalize();
  return 0;
}
