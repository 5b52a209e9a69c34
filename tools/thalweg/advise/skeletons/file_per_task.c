/* A file of each rank.
 * Each rank has a block of an array of 4-byte reals, N x N, last index fastest. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1024 };

static void must(int fine, const char* path) {
  if (fine) return;
  perror(path);
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
  const char* path = argc > 1 ? argv[1] : "array";
  int rank, size, lo[2], n[2];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  block_of(rank, size, lo, n);
  const size_t elements = (size_t)n[0] * (size_t)n[1];
  float* block = malloc((elements + 1) * sizeof *block);
  if (block == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  for (size_t i = 0; i < elements; ++i) block[i] = (float)rank; /* your data */

  char name[4096];
  must(snprintf(name, sizeof name, "%s.%06d", path, rank) < (int)sizeof name, path);
  FILE* file = fopen(name, "wb");
  must(file != NULL, name);
  setvbuf(file, NULL, _IONBF, 0); /* one large write: it need not be copied first */
  must(fwrite(block, sizeof *block, elements, file) == elements, name);
  must(fclose(file) == 0, name);

  free(block);
  MPI_Finalize();
  return 0;
}
