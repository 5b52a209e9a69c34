void write_array(const char* path) {
  char name[4096];
  snprintf(name, sizeof name, "%s.%06d", path, rank);
  int file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  write(file, block, sizeof(float) * count[0] * count[1]); /* again, where it stops short */
  close(file);
}
