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

/* The block of this rank: rows lo[0]..lo[0]+n[0], columns lo[1]..lo[1]+n[1]. */
static void block_of(int rank, int size, int lo[2], int n[2]) {
  int grid[2] = {0, 0};
  MPI_Dims_create(size, 2, grid);
  const int place[2] = {rank / grid[1], rank % grid[1]};
  for (int d = 0; d < 2; ++d) {
    lo[d] = (int)((long long)N * place[d] / grid[d]);
    n[d] = (int)((long long)N * (place[d] + 1) / grid[d]) - lo[d];
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const char* path = argc > 1 ? argv[1] : "chunks.dat";
  int rank, size, lo[2], n[2];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  block_of(rank, size, lo, n);
  const size_t elements = (size_t)n[0] * (size_t)n[1];
  float* block = malloc((elements + 1) * sizeof *block);
  if (block == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  for (size_t i = 0; i < elements; ++i) block[i] = (float)rank; /* your data */

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
