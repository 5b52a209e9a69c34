void write_array(const char* path) {
  MPI_Offset bytes = sizeof(float) * (MPI_Offset)count[0] * count[1], offset;
  MPI_Exscan(&bytes, &offset, 1, MPI_OFFSET, MPI_SUM, comm);
  if (rank == 0) offset = 0; /* which Exscan leaves undefined */
  MPI_File file;
  MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  MPI_File_set_view(file, offset, MPI_FLOAT, MPI_FLOAT, "native", MPI_INFO_NULL);
  MPI_File_write_all(file, block, count[0] * count[1], MPI_FLOAT, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
}
