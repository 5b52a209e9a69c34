void write_array(const char* path) {
  tw_group* group;
  tw_file* file;
  tw_view *element, *mine;
  tw_slice slices[2] = {{n[0], start[0], count[0]}, {n[1], start[1], count[1]}};
  tw_group_mpi(comm, &group);
  tw_file_open(group, path, TW_FILE_WRITE | TW_FILE_CREATE, NULL, &file);
  tw_view_contiguous(sizeof(float), NULL, &element);
  tw_view_subarray(2, slices, TW_ROW_MAJOR, element, &mine);
  tw_file_set_view(file, 0, mine);
  tw_request* request;
  tw_file_iwrite_view_all(file, block, sizeof(float) * count[0] * count[1], &request);
  compute();
  tw_request_wait(&request, NULL);
  tw_view_free(mine);
  tw_view_free(element);
  tw_file_close(file);
  tw_group_free(group);
}
