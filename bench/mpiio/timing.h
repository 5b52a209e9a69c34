/* The time of a part of a case: that of the slowest rank, printed by rank 0 as "NAME SECONDS". */
#include <mpi.h>
#include <stdio.h>

static int rank, ranks;

static double begin(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Wtime();
}

static void end(double began, const char* name, int repetition) {
  double mine = MPI_Wtime() - began, slowest = 0;
  MPI_Reduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0 && repetition > 0) printf("%s %.9f\n", name, slowest);
}
