void write_array(const char* path) {
  MPI_File file;
  MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  for (int row = 0; row < count[0]; ++row) {
    MPI_Offset offset = sizeof(float) * ((MPI_Offset)(start[0] + row) * n[1] + start[1]);
    MPI_File_write_at(file, offset, block + (size_t)row * count[1], count[1], MPI_FLOAT, MPI_STATUS_IGNORE);
  }
  MPI_File_close(&file);
}
