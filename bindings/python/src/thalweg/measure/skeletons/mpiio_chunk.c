/* MPI-IO: one file with the block of each rank, one behind the other. Blocks may be of any length.
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
  const char* path = argc > 1 ? argv[1] : "chunks.dat";
#include "my_block.inc"

  long long mine = (long long)(elements * sizeof *block), begin = 0;
  MPI_Exscan(&mine, &begin, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD); /* begin of rank 0 stays 0 */
  MPI_File file;
  must(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file), path);
  must(MPI_File_set_size(file, 0), path);
  must(MPI_File_write_at_all(file, (MPI_Offset)begin, block, (int)elements, MPI_FLOAT, MPI_STATUS_IGNORE), path);
  must(MPI_File_close(&file), path);

  free(block);
  MPI_Finalize();
  return 0;
}
