/* Thalweg: one file that is the array, by a collective write.
 * Each rank has a block of an array of 4-byte reals, N x N, last index fastest. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <thalweg/group_mpi.h>
#include <thalweg/thalweg.h>
enum { N = 1024 };

static void must(tw_status status) {
  if (status == TW_OK) return;
  fprintf(stderr, "%s\n", tw_last_error());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

#include "block_of.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const char* path = argc > 1 ? argv[1] : "array.dat";
#include "my_block.inc"

  tw_group* group;
  tw_file* file;
  must(tw_group_mpi(MPI_COMM_WORLD, &group));
  must(tw_file_open(group, path, TW_CREATE | TW_TRUNCATE, NULL, &file));
  const tw_dim dims[2] = {{N, lo[0], n[0], 0, 0}, {N, lo[1], n[1], 0, 0}}; /* of a block with a halo: its width */
  must(tw_file_write_array(file, block, sizeof *block, 2, dims, TW_ROW_MAJOR, 0)); /* Fortran: TW_COLUMN_MAJOR */
  must(tw_file_close(&file));
  tw_group_free(&group);

  free(block);
  MPI_Finalize();
  return 0;
}
