/* Writes a multifile of three logical files from C, reads it back, and prints a summary. */
#include <stdio.h>
#include <string.h>
#include <thalweg/thalweg.h>

static int failed(const char* what) {
  fprintf(stderr, "%s: %s\n", what, tw_last_error());
  return 1;
}

static int write_three(const char* path) {
  tw_options* options = NULL;
  tw_multifile* file = NULL;
  if (tw_options_create(&options) != TW_OK) return failed("configure");
  /* This one task serves all three logical files. */
  if (tw_options_set_range(options, 3, 0, 3) != TW_OK) return failed("set range");
  if (tw_multifile_open(NULL, path, TW_CREATE | TW_TRUNCATE, options, &file) != TW_OK) return failed("create");
  tw_options_free(&options);

  for (int64_t rank = 0; rank < 3; ++rank) {
    char text[32];
    const int length = snprintf(text, sizeof text, "I am logical file %d", (int)rank);
    if (tw_multifile_seek_to(file, rank, -1) != TW_OK || tw_multifile_write(file, text, (size_t)length) != TW_OK)
      return failed("write");
  }
  return tw_multifile_close(&file) == TW_OK ? 0 : failed("close");
}

static int read_three(const char* path) {
  tw_multifile* file = NULL;
  if (tw_multifile_open(NULL, path, TW_READ, NULL, &file) != TW_OK) return failed("open");
  for (int64_t rank = 0; rank < 3; ++rank) {
    char text[32] = "";
    size_t got = 0;
    if (tw_multifile_seek_to(file, rank, 0) != TW_OK || tw_multifile_read(file, text, sizeof text - 1, &got) != TW_OK)
      return failed("read");
    printf("%d: %s (%d bytes)\n", (int)rank, text, (int)got);
  }
  return tw_multifile_close(&file) == TW_OK ? 0 : failed("close");
}

int main(void) {
  printf("thalweg %s from C\n", tw_version_string());
  return write_three("consumer_c.tw") != 0 || read_three("consumer_c.tw") != 0;
}
