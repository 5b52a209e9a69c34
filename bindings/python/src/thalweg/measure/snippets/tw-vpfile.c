void write_array(const char* path) {
  tw_group* group;
  tw_vpfile* file;
  tw_options* options;
  int64_t shape[2] = {n[0], n[1]}, from[2] = {start[0], start[1]}, extent[2] = {count[0], count[1]};
  tw_options_create(&options);
  tw_options_set_shape(options, 2, shape);
  tw_options_set_box(options, 2, from, extent);
  tw_group_mpi(comm, &group);
  tw_vpfile_open(group, path, TW_CREATE | TW_TRUNCATE, options, &file);
  tw_vpfile_write_all(file, TW_VPFILE_PACKED(block, sizeof(float)), NULL, NULL);
  tw_vpfile_close(&file);
  tw_options_free(&options);
  tw_group_free(&group);
}
