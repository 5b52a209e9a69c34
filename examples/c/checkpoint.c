/* All ranks store their rows of an array, and a log each, in one multifile, and read the rows back. This program is also
 * written in C++, Fortran and Python: ../cxx/checkpoint.cpp, ../fortran/checkpoint.f90, ../python/checkpoint.py.
 *     mpiexec -n 4 example_c_checkpoint */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <thalweg/group_mpi.h>
#include <thalweg/thalweg.h>

#include "check.h"

enum { kRows = 256, kColumns = 128 };

int main(int argc, char** argv) {
  static double u[kRows * kColumns], v[kRows * kColumns];
  char log[32];
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  snprintf(log, sizeof log, "logs/rank%d.txt", rank);
  const char* text = "step 1\n";
  const int first = kRows * rank / ranks, n = (kRows * (rank + 1) / ranks - first) * kColumns;
  for (int k = 0; k < n; ++k) u[k] = first + (double)k / kColumns;

  tw_group* group;
  tw_multifile* f;
  check(tw_group_mpi(MPI_COMM_WORLD, &group));
  check(tw_multifile_open(group, "dump.tw", TW_CREATE | TW_TRUNCATE, NULL, &f)); /* by all ranks: one multifile */
  check(tw_multifile_write(f, u, n * sizeof u[0]));                              /* the rows of this rank */
  check(tw_multifile_add(f, log, 0100644)); /* a file by a name: any rank, any time, no message */
  check(tw_multifile_write(f, text, strlen(text)));
  check(tw_multifile_close(&f)); /* by all ranks: complete from here on */
  check(tw_multifile_open(group, "dump.tw", TW_READ, NULL, &f));
  check(tw_multifile_read(f, v, n * sizeof v[0], NULL));
  check(tw_multifile_close(&f));
  tw_group_free(&group);

  double mine = 0, all = 0;
  for (int k = 0; k < n; ++k) mine += v[k];
  MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("sum %.1f\n", all);
  MPI_Finalize();
  return 0;
}
