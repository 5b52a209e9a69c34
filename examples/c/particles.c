/* Particles of six cells, any number per cell, written with one call and read again; and a line of text that one cell
 * writes independently.
 *    example_c_particles particles.vp */
#include <stdint.h>
#include <stdio.h>
#include <thalweg/thalweg.h>

#include "check.h"

enum { kCells = 6, kMost = 3 };

typedef struct particle {
  double x, y;
} particle;

static void write_particles(const char* path) {
  const int64_t shape[] = {2, 3};
  uint64_t numbers[kCells];
  int64_t each[kCells];
  particle particles[kCells * kMost]; /* of cell 0, then of cell 1, ... */
  size_t n = 0;
  for (int cell = 0; cell < kCells; ++cell) {
    each[cell] = cell % 4;
    numbers[cell] = (uint64_t)each[cell];
    for (int64_t i = 0; i < each[cell]; ++i) particles[n++] = (particle){cell, 0.5 * (double)i};
  }
  tw_options* options;
  check(tw_options_create(&options));
  check(tw_options_set_shape(options, 2, shape));
  tw_vpfile* file;
  check(tw_vpfile_open(NULL, path, TW_CREATE | TW_TRUNCATE, options, &file));
  tw_options_free(&options);
  check(tw_vpfile_write_all(file, TW_VPFILE_PACKED(numbers, sizeof numbers[0]), NULL, NULL));
  const tw_vpfile_data ragged = {.base = particles, .item_bytes = sizeof(particle), .n_each = each};
  check(tw_vpfile_write_all(file, ragged, NULL, NULL));
  FILE* text;
  check(tw_vpfile_fopen(file, 5, "a", &text));
  fprintf(text, "the last of %d cells\n", kCells);
  fclose(text);
  check(tw_vpfile_close(&file));
}

static void read_particles(const char* path) {
  tw_vpfile* file;
  check(tw_vpfile_open(NULL, path, TW_READ, NULL, &file)); /* the shape is that of the file */
  uint64_t numbers[kCells];
  check(tw_vpfile_read_all(file, TW_VPFILE_PACKED(numbers, sizeof numbers[0]), NULL, NULL));
  int64_t each[kCells];
  for (int cell = 0; cell < kCells; ++cell) each[cell] = (int64_t)numbers[cell];
  particle particles[kCells * kMost];
  const tw_vpfile_data ragged = {.base = particles, .item_bytes = sizeof(particle), .n_each = each};
  check(tw_vpfile_read_all(file, ragged, NULL, NULL));
  const particle* next = particles;
  for (int cell = 0; cell < kCells; ++cell) {
    double sum = 0;
    for (int64_t i = 0; i < each[cell]; ++i, ++next) sum += next->x + next->y;
    printf("cell %d: %d particles, sum %.1f\n", cell, (int)each[cell], sum);
  }
  int64_t behind;
  check(tw_vpfile_tell(file, 5, &behind, NULL, NULL));
  FILE* text;
  check(tw_vpfile_fopen(file, 5, "r", &text));
  char line[100];
  if (fseek(text, behind, SEEK_SET) == 0 && fgets(line, sizeof line, text) != NULL) fputs(line, stdout);
  fclose(text);
  check(tw_vpfile_close(&file));
}

int main(int argc, char** argv) {
  const char* path = argc > 1 ? argv[1] : "particles.vp";
  write_particles(path);
  read_particles(path);
  return 0;
}
