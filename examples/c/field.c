/* All ranks write one array into one plain file, each its rows without the halo, and read rows of their neighbours.
 *    mpiexec -n 4 example_c_field field.dat */
#include <mpi.h>
#include <stdlib.h>
#include <thalweg/group_mpi.h>
#include <thalweg/thalweg.h>

#include "check.h"

enum { NY = 50, NX = 40 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const char* path = argc > 1 ? argv[1] : "field.dat";
  tw_group* group;
  check(tw_group_mpi(MPI_COMM_WORLD, &group));
  const int64_t rank = tw_group_rank(group), ranks = tw_group_size(group);
  const int64_t first = NY * rank / ranks, rows = NY * (rank + 1) / ranks - first;
  double* memory = calloc((size_t)((rows + 2) * (NX + 2)), sizeof(double)); /* a halo of one item on each side */
  for (int64_t y = 0; y < rows; ++y)
    for (int64_t x = 0; x < NX; ++x) memory[(y + 1) * (NX + 2) + x + 1] = (double)(first + y);

  tw_file* file;
  check(tw_file_open(group, path, TW_CREATE, NULL, &file));
  const tw_dim mine[2] = {{NY, first, rows, 1, 1}, {NX, 0, NX, 1, 1}}; /* global, start, count, halo on both sides */
  check(tw_file_write_array(file, memory, sizeof(double), 2, mine, TW_ROW_MAJOR, 0));
  check(tw_file_close(&file));

  /* The rows of the neighbours are read into the halo: one row more on each side that is inside of the array. */
  check(tw_file_open(group, path, TW_READ, NULL, &file));
  const int64_t above = first > 0 ? 1 : 0, below = first + rows < NY ? 1 : 0;
  const tw_dim with_halo[2] = {{NY, first - above, above + rows + below, 1 - above, 1 - below}, {NX, 0, NX, 1, 1}};
  check(tw_file_read_array(file, memory, sizeof(double), 2, with_halo, TW_ROW_MAJOR, 0, NULL));
  check(tw_file_close(&file));

  printf("rank %d of %d: %d rows from %d on, between rows of %g and %g\n", (int)rank, (int)ranks, (int)rows, (int)first,
         memory[1], memory[(rows + 1) * (NX + 2) + 1]);
  free(memory);
  tw_group_free(&group);
  MPI_Finalize();
  return 0;
}
