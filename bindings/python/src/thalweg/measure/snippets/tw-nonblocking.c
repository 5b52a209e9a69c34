void write_array(const char* path) {
  tw_group* group;
  tw_file* file;
  tw_dim dims[2] = {{n[0], start[0], count[0], 0, 0}, {n[1], start[1], count[1], 0, 0}};
  tw_group_mpi(comm, &group);
  tw_file_open(group, path, TW_CREATE, NULL, &file);
  tw_request* request;
  tw_file_iwrite_array(file, block, sizeof(float), 2, dims, TW_ROW_MAJOR, 0, &request);
  compute();
  tw_request_wait(&request, NULL);
  tw_file_close(&file);
  tw_group_free(&group);
}
