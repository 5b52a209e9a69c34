void write_array(const char* path) {
  int file, dimensions[2], array;
  MPI_Offset from[2] = {start[0], start[1]}, extent[2] = {count[0], count[1]};
  ncmpi_create(comm, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file);
  ncmpi_def_dim(file, "y", n[0], &dimensions[0]);
  ncmpi_def_dim(file, "x", n[1], &dimensions[1]);
  ncmpi_def_var(file, "array", NC_FLOAT, 2, dimensions, &array);
  ncmpi_enddef(file);
  ncmpi_put_vara_float_all(file, array, from, extent, block);
  ncmpi_close(file);
}
