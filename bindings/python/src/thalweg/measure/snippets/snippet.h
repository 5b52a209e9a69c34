/* What every snippet is given: the array of n[0] x n[1] floats in row-major order, cut over a grid of ranks, and the
 * block of this rank. A snippet is all that its user writes to store the array, but for checks of errors. */
#ifndef THALWEG_METHODS_SNIPPET_H
#define THALWEG_METHODS_SNIPPET_H

#include <mpi.h>

extern MPI_Comm comm;
extern int rank, ranks;
extern int n[2];               /* of the array */
extern int grid[2];            /* ranks in each dimension; the last one is counted fastest */
extern int start[2], count[2]; /* of the block of this rank */
extern float* block;           /* count[0] * count[1] of them */
extern int most_rows;          /* count[0] of the rank that has most */

void block_of(int of_rank, int of_start[2], int of_count[2]);
void compute(void);

void write_array(const char* path);

#endif
