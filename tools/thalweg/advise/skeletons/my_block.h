  int rank, size, lo[2], n[2];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  block_of(rank, size, lo, n);
  const size_t elements = (size_t)n[0] * (size_t)n[1];
  float* block = malloc((elements + 1) * sizeof *block);
  if (block == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  for (size_t i = 0; i < elements; ++i) block[i] = (float)rank; /* your data */
