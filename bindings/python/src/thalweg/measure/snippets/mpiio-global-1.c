void write_array(const char* path) {
  MPI_File file;
  MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  for (int row = 0; row < most_rows; ++row) { /* as many calls by all */
    int columns = row < count[0] ? count[1] : 0;
    MPI_Offset offset = sizeof(float) * ((MPI_Offset)(start[0] + row) * n[1] + start[1]);
    MPI_File_write_at_all(file, columns > 0 ? offset : 0, block + (columns > 0 ? (size_t)row * columns : 0), columns,
                          MPI_FLOAT, MPI_STATUS_IGNORE);
  }
  MPI_File_close(&file);
}
