void write_array(const char* path) {
  hsize_t whole[2] = {n[0], n[1]}, from[2] = {start[0], start[1]}, extent[2] = {count[0], count[1]};
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_mpio(access, comm, MPI_INFO_NULL);
  hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
  hid_t in_file = H5Screate_simple(2, whole, NULL), in_memory = H5Screate_simple(2, extent, NULL);
  hid_t layout = H5Pcreate(H5P_DATASET_CREATE);
  hsize_t chunk[2] = {n[0] / grid[0], n[1] / grid[1]};
  H5Pset_chunk(layout, 2, chunk);
  H5Pset_fill_time(layout, H5D_FILL_TIME_NEVER); /* otherwise every chunk is first filled with zeros */
  hid_t data = H5Dcreate2(file, "array", H5T_NATIVE_FLOAT, in_file, H5P_DEFAULT, layout, H5P_DEFAULT);
  H5Sselect_hyperslab(in_file, H5S_SELECT_SET, from, NULL, extent, NULL);
  hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
  H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
  H5Dwrite(data, H5T_NATIVE_FLOAT, in_memory, in_file, transfer, block);
  H5Pclose(transfer);
  H5Pclose(layout);
  H5Dclose(data);
  H5Sclose(in_memory);
  H5Sclose(in_file);
  H5Fclose(file);
  H5Pclose(access);
}
