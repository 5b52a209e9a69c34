/* MPI-IO level 3: one file that is the array, by a view and a collective write.
 * Each rank has a block of an array of 4-byte reals, N x N, last index fastest. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1024 };

static void must(int code, const char* path) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length;
  MPI_Error_string(code, text, &length);
  fprintf(stderr, "%s: %s\n", path, text);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

#include "block_of.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const char* path = argc > 1 ? argv[1] : "array.dat";
#include "my_block.inc"

  const int shape[2] = {N, N};
  MPI_Datatype type;
  MPI_Type_create_subarray(2, shape, n, lo, MPI_ORDER_C, MPI_FLOAT, &type); /* no dimension of n may be 0 */
  MPI_Type_commit(&type);
  MPI_File file;
  must(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file), path);
  must(MPI_File_set_size(file, 0), path);
  must(MPI_File_set_view(file, 0, MPI_FLOAT, type, "native", MPI_INFO_NULL), path);
  must(MPI_File_write_all(file, block, (int)elements, MPI_FLOAT, MPI_STATUS_IGNORE), path);
  must(MPI_File_close(&file), path);
  MPI_Type_free(&type);

  free(block);
  MPI_Finalize();
  return 0;
}
