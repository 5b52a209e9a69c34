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

#include "block_of.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const char* path = argc > 1 ? argv[1] : "array.dat";
#include "my_block.inc"

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
