/* Any number of ranks reads the logical files of another number of ranks: each serves an equal share.
 *    mpiexec -n 3 example_c_restart dump.tw */
#include <mpi.h>
#include <thalweg/group_mpi.h>
#include <thalweg/thalweg.h>

#include "check.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const char* path = argc > 1 ? argv[1] : "dump.tw";
  tw_group* group;
  tw_multifile* file;
  tw_multifile_summary summary = {.struct_size = sizeof summary};
  check(tw_group_mpi(MPI_COMM_WORLD, &group));
  check(tw_multifile_open(group, path, TW_READ, NULL, &file));
  check(tw_multifile_summarize(file, &summary));

  /* By default task s of S serves the logical files [s * N / S, (s + 1) * N / S). */
  const int64_t me = tw_group_rank(group), size = tw_group_size(group);
  for (int64_t i = me * summary.n_logical / size; i < (me + 1) * summary.n_logical / size; ++i) {
    double values[1000];
    size_t got;
    check(tw_multifile_seek_to(file, i, 0));
    check(tw_multifile_read(file, values, sizeof values, &got));
    printf("rank %d of %d: logical file %d holds %d values from %g on\n", (int)me, (int)size, (int)i,
           (int)(got / sizeof values[0]), values[0]);
  }

  check(tw_multifile_close(&file));
  tw_group_free(&group);
  MPI_Finalize();
  return 0;
}
