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

#include "block_of.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const char* path = argc > 1 ? argv[1] : "array";
#include "my_block.inc"

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
