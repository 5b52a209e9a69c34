void write_array(const char* path) {
  tw_group* group;
  tw_vpfile* file;
  int64_t shape[2] = {n[0], n[1]}, from[2] = {start[0], start[1]}, extent[2] = {count[0], count[1]};
  tw_vpfile_options options = {.struct_size = sizeof options, .box_start = from, .box_count = extent};
  tw_group_mpi(comm, &group);
  tw_vpfile_open(group, path, TW_CREATE | TW_TRUNCATE, &options.shape(2, shape), &file);
  tw_vpfile_write_all(file, TW_VP_PACKED(block, sizeof(float)), NULL, NULL);
  tw_vpfile_close(file);
  tw_group_free(group);
}
