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
