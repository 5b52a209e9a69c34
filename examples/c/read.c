/* One program without MPI reads all logical files of a multifile: an analysis on a login node.
 *     example_c_read dump.tw */
#include <thalweg/thalweg.h>

#include "check.h"

int main(int argc, char** argv) {
  const char* path = argc > 1 ? argv[1] : "dump.tw";
  tw_multifile* file;
  tw_multifile_summary summary = {.struct_size = sizeof summary};
  check(tw_multifile_open(NULL, path, TW_READ, NULL, &file)); /* NULL: a group of this task alone */
  check(tw_multifile_summarize(file, &summary));

  for (int64_t rank = 0; rank < summary.n_logical; ++rank) {
    double sum = 0, value;
    size_t got;
    check(tw_multifile_seek_to(file, rank, 0));
    for (;;) {
      check(tw_multifile_read(file, &value, sizeof value, &got));
      if (got < sizeof value) break;
      sum += value;
    }
    printf("logical file %d: sum %.3f\n", (int)rank, sum);
  }

  check(tw_multifile_close(&file));
  return 0;
}
