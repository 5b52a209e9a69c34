/* Every MPI rank writes its own logical file; all of them are in one multifile.
 *     mpiexec -n 4 example_c_write dump.tw */
#include <mpi.h>
#include <thalweg/group_mpi.h>
#include <thalweg/thalweg.h>

#include "check.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const char* path = argc > 1 ? argv[1] : "dump.tw";
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double values[1000];
  for (int i = 0; i < 1000; ++i) values[i] = rank + i / 1000.0;

  tw_group* group;
  tw_multifile* file;
  check(tw_group_mpi(MPI_COMM_WORLD, &group));
  check(tw_multifile_open(group, path, TW_CREATE | TW_TRUNCATE, NULL, &file)); /* collective */
  check(tw_multifile_write(file, values, sizeof values)); /* independent, any number of times, any amount */
  check(tw_multifile_close(&file));                       /* collective */
  tw_group_free(&group);

  MPI_Finalize();
  return 0;
}
