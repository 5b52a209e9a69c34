/* Thalweg multifile: a logical file of each rank, few files in the folder. What a rank writes may be of any length.
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
  const char* path = argc > 1 ? argv[1] : "data.tw";
#include "my_block.inc"

  tw_group* group;
  tw_multifile* multifile;
  must(tw_group_mpi(MPI_COMM_WORLD, &group));
  must(tw_multifile_open(group, path, TW_CREATE | TW_TRUNCATE, NULL, &multifile));
  must(tw_multifile_write(multifile, block,
                          (int64_t)(elements * sizeof *block))); /* as often as you like, without the others */
  must(tw_multifile_close(&multifile));
  tw_group_free(&group);

  free(block);
  MPI_Finalize();
  return 0;
}
