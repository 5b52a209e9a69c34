/* Code that writes to a FILE* runs unchanged: three logical files, named, written with fprintf and read with fgets.
 *     example_c_stdio notes.tw */
#include <string.h>
#include <thalweg/thalweg.h>

#include "check.h"

static const char* const kNames[] = {"salmon.txt", "trout.txt", "eel.txt"};

/* Somebody's code that knows nothing of multifiles. */
static void report(FILE* out, const char* fish, int n) {
  for (int i = 1; i <= n; ++i) fprintf(out, "%s number %d passed the weir\n", fish, i);
}

static void write_notes(const char* path) {
  tw_options* options;
  tw_multifile* file;
  check(tw_options_create(&options));
  check(tw_options_set_range(options, 3, 0, 3)); /* three logical files, all served by this task */
  check(tw_multifile_open(NULL, path, TW_CREATE | TW_TRUNCATE, options, &file));
  tw_options_free(&options);
  for (int rank = 0; rank < 3; ++rank) {
    FILE* stream;
    check(tw_multifile_seek_to(file, rank, -1));
    check(tw_multifile_set_name(file, kNames[rank], 0));
    check(tw_multifile_fopen(file, rank, "w", &stream));
    report(stream, kNames[rank], rank + 1);
    fclose(stream);
  }
  check(tw_multifile_close(&file));
}

static void read_notes(const char* path) {
  tw_multifile* file;
  check(tw_multifile_open(NULL, path, TW_READ, NULL, &file));
  int64_t rank;
  check(tw_multifile_find(file, "eel.txt", &rank));
  FILE* stream;
  check(tw_multifile_fopen(file, rank, "r", &stream));
  char line[100];
  while (fgets(line, sizeof line, stream) != NULL) fputs(line, stdout);
  fclose(stream);
  check(tw_multifile_close(&file));
}

int main(int argc, char** argv) {
  const char* path = argc > 1 ? argv[1] : "notes.tw";
  write_notes(path);
  read_notes(path);
  return 0;
}
