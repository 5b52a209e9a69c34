/* Makes vpfiles for the tests of the thalweg command.
 * Usage: cli_craft_vpfile OUT SHAPE [--unclosed] [--few] [--hints NAME=VALUE,...] < steps
 * A step is a line: "all BYTES" (every virtual processor writes BYTES), "each BYTES BYTES ..." (one number per virtual
 * processor), "one VP BYTES" (one virtual processor), "flush". --few, for very many VPs, permits only the last two,
 * each VP once. Byte p of stream v is (v * 31 + p * 7 + p / 256) % 256. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <thalweg/thalweg.h>
#include <thalweg/vpfile.h>
#include <unistd.h>

static void check(tw_status status) {
  if (status == TW_OK) return;
  fprintf(stderr, "%s: %s\n", tw_status_name(status), tw_last_error());
  exit(3);
}

static tw_vpfile* file;
static int64_t n = 1;
static int64_t* positions; /* NULL with --few */

static void fill(unsigned char* to, int64_t vp, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) {
    const int64_t p = positions != NULL ? positions[vp]++ : (int64_t)i;
    to[i] = (unsigned char)(vp * 31 + p * 7 + p / 256);
  }
}

static void write_all(const int64_t* each) {
  size_t total = 0;
  for (int64_t vp = 0; vp < n; ++vp) total += (size_t)each[vp];
  unsigned char* data = malloc(total + 1);
  if (data == NULL) exit(3);
  total = 0;
  int same = 1;
  for (int64_t vp = 0; vp < n; ++vp) {
    fill(data + total, vp, (size_t)each[vp]);
    total += (size_t)each[vp];
    same = same && each[vp] == each[0];
  }
  const tw_vpfile_data packed = {data, 1, each[0], same ? NULL : each, 0, NULL};
  check(tw_vpfile_write_all(file, packed, NULL, NULL));
  free(data);
}

static void write_one(int64_t vp, size_t bytes) {
  unsigned char* data = malloc(bytes + 1);
  if (data == NULL) exit(3);
  fill(data, vp, bytes);
  check(tw_vpfile_write(file, vp, data, bytes, NULL));
  free(data);
}

static void step(char* line) {
  char* end = NULL;
  const char* word = strtok_r(line, " \n", &end);
  if (word == NULL) return;
  if (strcmp(word, "flush") == 0) {
    check(tw_vpfile_flush_all(file));
    return;
  }
  if (strcmp(word, "one") == 0) {
    const int64_t vp = strtoll(strtok_r(NULL, " \n", &end), NULL, 10);
    write_one(vp, strtoul(strtok_r(NULL, " \n", &end), NULL, 10));
    return;
  }
  int64_t* each = calloc((size_t)n, sizeof *each);
  if (each == NULL) exit(3);
  for (int64_t vp = 0; vp < n; ++vp) {
    const char* next = vp == 0 || strcmp(word, "each") == 0 ? strtok_r(NULL, " \n", &end) : NULL;
    each[vp] = next != NULL ? strtoll(next, NULL, 10) : vp > 0 ? each[vp - 1] : 0;
  }
  write_all(each);
  free(each);
}

int main(int argc, char** argv) {
  int64_t shape[8];
  int32_t n_dims = 0;
  int unclosed = 0;
  int few = 0;
  tw_options* options;
  if (argc < 3) return 2;
  check(tw_options_create(&options));
  for (char* at = argv[2]; n_dims < 8; ++at) {
    shape[n_dims] = strtoll(at, &at, 10);
    n *= shape[n_dims++];
    if (*at != ',') break;
  }
  for (int i = 3; i < argc; ++i) {
    if (strcmp(argv[i], "--unclosed") == 0) unclosed = 1;
    if (strcmp(argv[i], "--few") == 0) few = 1;
    if (strcmp(argv[i], "--hints") == 0 && i + 1 < argc) check(tw_options_set_hints(options, argv[i + 1]));
  }
  positions = few ? NULL : calloc((size_t)n, sizeof *positions);
  if (positions == NULL && !few) return 3;
  check(tw_options_set_shape(options, n_dims, shape));
  check(tw_vpfile_open(NULL, argv[1], TW_CREATE | TW_TRUNCATE, options, &file));
  tw_options_free(&options);
  char* line = NULL;
  size_t room = 0;
  while (getline(&line, &room, stdin) >= 0) step(line);
  free(line);
  if (unclosed) {
    check(tw_vpfile_flush_all(file));
    _exit(0); /* like a program killed after its last flush */
  }
  check(tw_vpfile_close(&file));
  free(positions);
  return 0;
}
