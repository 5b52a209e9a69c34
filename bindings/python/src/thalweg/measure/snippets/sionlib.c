void write_array(const char* path) {
  int files = 1, global_rank = rank;
  sion_int64 chunk = (sion_int64)sizeof(float) * count[0] * count[1];
  sion_int32 fs_block = -1;
  MPI_Comm local;
  char* name = NULL;
  int sid = sion_paropen_mpi(path, "w", &files, comm, &local, &chunk, &fs_block, &global_rank, NULL, &name);
  sion_fwrite(block, sizeof(float), (size_t)count[0] * count[1], sid);
  sion_parclose_mpi(sid);
}
