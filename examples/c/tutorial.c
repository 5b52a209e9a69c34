/* The program of docs/tutorial/first_multifile.md: readings of four gauges, one logical file for each, without MPI.
 *    example_c_tutorial write gauges.tw 10      ten readings of each
 *    example_c_tutorial crash gauges.tw 10      ten readings, then the program dies in the middle of the eleventh
 *    example_c_tutorial read gauges.tw */
#include <string.h>
#include <thalweg/thalweg.h>

#include "check.h"

enum { kGauges = 4 };

typedef struct reading {
  int32_t hour;
  float level;
} reading;

static void write_hour(tw_multifile* file, int hour) {
  for (int gauge = 0; gauge < kGauges; ++gauge) {
    const reading now = {hour, 1.5f + 0.1f * (float)gauge + 0.01f * (float)hour};
    check(tw_multifile_seek_to(file, gauge, -1)); /* -1: where this logical file was left */
    check(tw_multifile_write(file, &now, sizeof now));
  }
}

static void write_readings(const char* path, int hours, int crash) {
  tw_options* options;
  tw_multifile* file;
  check(tw_options_create(&options));
  check(tw_options_set_range(options, kGauges, 0, kGauges)); /* four logical files; this task serves all */
  check(tw_options_set_hint(options, "physical_files", "1"));
  check(tw_multifile_open(NULL, path, TW_CREATE | TW_TRUNCATE, options, &file)); /* NULL: no other tasks */
  tw_options_free(&options);

  for (int hour = 0; hour < hours; ++hour) {
    write_hour(file, hour);
    check(tw_multifile_flush(file)); /* from here on these readings survive the death of the program */
  }
  if (crash) {
    write_hour(file, hours);
    _Exit(9);
  }
  check(tw_multifile_close(&file));
}

static void read_readings(const char* path) {
  tw_multifile* file;
  check(tw_multifile_open(NULL, path, TW_READ, NULL, &file)); /* one task serves all logical files */
  for (int gauge = 0; gauge < kGauges; ++gauge) {
    reading last = {-1, 0};
    size_t got = sizeof last;
    int n = -1;
    check(tw_multifile_seek_to(file, gauge, 0));
    for (; got == sizeof last; ++n) check(tw_multifile_read(file, &last, sizeof last, &got));
    printf("gauge %d: %d readings, the last %.2f m\n", gauge, n, (double)last.level);
  }
  check(tw_multifile_close(&file));
}

int main(int argc, char** argv) {
  if (argc == 4 && (strcmp(argv[1], "write") == 0 || strcmp(argv[1], "crash") == 0)) {
    write_readings(argv[2], atoi(argv[3]), strcmp(argv[1], "crash") == 0);
  } else if (argc == 3 && strcmp(argv[1], "read") == 0) {
    read_readings(argv[2]);
  } else {
    fprintf(stderr, "usage: %s write|crash FILE HOURS, or read FILE\n", argv[0]);
    return 2;
  }
  return 0;
}
