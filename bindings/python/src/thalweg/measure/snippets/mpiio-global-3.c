void write_array(const char* path) {
  MPI_File file;
  MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  MPI_Datatype mine;
  MPI_Type_create_subarray(2, n, count, start, MPI_ORDER_C, MPI_FLOAT, &mine);
  MPI_Type_commit(&mine);
  MPI_File_set_view(file, 0, MPI_FLOAT, mine, "native", MPI_INFO_NULL);
  MPI_File_write_all(file, block, count[0] * count[1], MPI_FLOAT, MPI_STATUS_IGNORE);
  MPI_Type_free(&mine);
  MPI_File_close(&file);
}
