/* One rank gathers the array and writes it. It needs memory for all of it twice.
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
  const char* path = argc > 1 ? argv[1] : "array.dat";
  int rank, size, lo[2], n[2];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  block_of(rank, size, lo, n);
  const size_t elements = (size_t)n[0] * (size_t)n[1];
  float* block = malloc((elements + 1) * sizeof *block);
  if (block == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  for (size_t i = 0; i < elements; ++i) block[i] = (float)rank; /* your data */

  int* counts = malloc((size_t)size * sizeof *counts);
  int* begins = malloc((size_t)size * sizeof *begins);
  float* pieces = rank == 0 ? malloc((size_t)N * N * sizeof *pieces) : NULL;
  float* array = rank == 0 ? malloc((size_t)N * N * sizeof *array) : NULL;
  must(counts != NULL && begins != NULL && (rank != 0 || (pieces != NULL && array != NULL)), "memory");
  for (int r = 0, begin = 0; r < size; ++r) {
    int from[2], of[2];
    block_of(r, size, from, of);
    begins[r] = begin;
    counts[r] = of[0] * of[1];
    begin += counts[r];
  }
  MPI_Gatherv(block, (int)elements, MPI_FLOAT, pieces, counts, begins, MPI_FLOAT, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    for (int r = 0; r < size; ++r) {
      int from[2], of[2];
      block_of(r, size, from, of);
      for (int i = 0; i < of[0] * of[1]; ++i)
        array[(size_t)(from[0] + i / of[1]) * N + (size_t)(from[1] + i % of[1])] = pieces[begins[r] + i];
    }
    FILE* file = fopen(path, "wb");
    must(file != NULL, path);
    setvbuf(file, NULL, _IONBF, 0);
    must(fwrite(array, sizeof *array, (size_t)N * N, file) == (size_t)N * N, path);
    must(fclose(file) == 0, path);
  }
  free(counts);
  free(begins);
  free(pieces);
  free(array);

  free(block);
  MPI_Finalize();
  return 0;
}
