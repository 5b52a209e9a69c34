void write_array(const char* path) {
  tw_group* group;
  tw_multifile* file;
  tw_group_mpi(comm, &group);
  tw_multifile_open(group, path, TW_CREATE | TW_TRUNCATE, NULL, &file);
  tw_multifile_write(file, block, sizeof(float) * count[0] * count[1]);
  tw_multifile_close(&file);
  tw_group_free(&group);
}
