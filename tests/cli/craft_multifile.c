/* Makes multifiles that the thalweg command never makes, for its tests: hostile names, unusual modes, unclosed files.
 * Usage: cli_craft_multifile OUT [--unclosed] [NAME=VALUE hints...] [@KEY attributes, hexadecimal...] < entries
 * Each line "MODE NAME CONTENT" makes a logical file: octal; hexadecimal; hexadecimal. "-" is empty. Lines with a fourth
 * word, "MODE NAME CONTENT PART", come last and add a part of a name: decimal. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <thalweg/thalweg.h>
#include <unistd.h>

static void check(tw_status status) {
  if (status == TW_OK) return;
  fprintf(stderr, "%s: %s\n", tw_status_name(status), tw_last_error());
  exit(3);
}

/* Decodes in place; returns the number of bytes. A zero byte follows. */
static size_t decode(char* text) {
  size_t n = 0;
  if (strcmp(text, "-") != 0) {
    for (; text[2 * n] != '\0' && text[2 * n + 1] != '\0'; ++n) {
      const char pair[3] = {text[2 * n], text[2 * n + 1], '\0'};
      text[n] = (char)strtoul(pair, NULL, 16);
    }
  }
  text[n] = '\0';
  return n;
}

static int has_part(const char* line) {
  const char* end = line;
  for (int word = 0; word < 3 && end != NULL; ++word) end = strchr(end + (word > 0), ' ');
  return end != NULL;
}

static void write_entry(tw_multifile* multifile, int64_t rank, char* line) {
  char* end = NULL;
  const char* mode = strtok_r(line, " \n", &end);
  char* name = strtok_r(NULL, " \n", &end);
  char* content = strtok_r(NULL, " \n", &end);
  const char* part = strtok_r(NULL, " \n", &end);
  if (mode == NULL || name == NULL || content == NULL) exit(2);
  decode(name);
  if (part == NULL) {
    check(tw_multifile_seek_to(multifile, rank, 0));
  } else {
    check(tw_multifile_add_part(multifile, name, strtoll(part, NULL, 10), (uint32_t)strtoul(mode, NULL, 8)));
  }
  if (part == NULL && (*name != '\0' || strcmp(mode, "0") != 0)) {
    check(tw_multifile_set_name(multifile, name, (uint32_t)strtoul(mode, NULL, 8)));
  }
  check(tw_multifile_write(multifile, content, decode(content)));
}

int main(int argc, char** argv) {
  char** lines = NULL;
  int64_t n = 0, parts = 0;
  size_t room = 0;
  int unclosed = 0;
  tw_options* options = NULL;
  tw_multifile* multifile = NULL;
  if (argc < 2) return 2;
  for (;;) {
    if ((n & (n - 1)) == 0) { /* full at every power of two */
      lines = realloc(lines, (size_t)(n == 0 ? 1 : 2 * n) * sizeof *lines);
      if (lines == NULL) return 3;
    }
    lines[n] = NULL;
    if (getline(&lines[n], &room, stdin) < 0) break;
    room = 0;
    parts += has_part(lines[n]);
    ++n;
  }
  check(tw_options_create(&options));
  for (int i = 2; i < argc; ++i) {
    char* equals = strchr(argv[i], '=');
    if (argv[i][0] == '@') continue;
    if (equals == NULL) {
      unclosed = strcmp(argv[i], "--unclosed") == 0;
    } else {
      *equals = '\0';
      check(tw_options_set_hint(options, argv[i], equals + 1));
    }
  }
  check(tw_options_set_range(options, n - parts, 0, n - parts));
  check(tw_multifile_open(NULL, argv[1], TW_CREATE | TW_TRUNCATE, options, &multifile));
  for (int i = 2; i < argc; ++i) {
    if (argv[i][0] != '@') continue;
    decode(argv[i] + 1);
    check(tw_multifile_set_attribute(multifile, argv[i] + 1, "v", 1));
  }
  for (int64_t rank = 0; rank < n; ++rank) write_entry(multifile, rank, lines[rank]);
  check(tw_multifile_flush(multifile));
  if (unclosed) _exit(0); /* like a program killed after its last flush */
  check(tw_multifile_close(&multifile));
  tw_options_free(&options);
  for (int i = 0; i <= n; ++i) free(lines[i]);
  free(lines);
  return 0;
}
