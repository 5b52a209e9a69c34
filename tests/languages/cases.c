/* The cases of README.md in C. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <thalweg/group_mpi.h>
#include <thalweg/thalweg.h>

enum { kRows = 12, kColumns = 8, kItems = kRows * kColumns, kText = 1000 };

static int rank, ranks, first, last, n_mine; /* rows first to before last, with n_mine items */
static const char* prefix;
static tw_group* group;
static char failures[4 * kText];

static void expect(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "FAILED: C, rank %d, %s: %s\n", rank, prefix, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}
static void check(tw_status status) { expect(status == TW_OK, tw_last_error()); }

static double value(int64_t i, int64_t j) { return 100.0 * (double)i + (double)j; }
static double item(int64_t row, int64_t k) { return value(row + k / kColumns, k % kColumns); }

static const char* path(const char* suffix) {
  static char text[kText];
  snprintf(text, sizeof text, "%s%s", prefix, suffix);
  return text;
}

static void write_shared(void) {
  double memory[kRows + 2][kColumns + 2];
  for (int i = 0; i < kRows + 2; ++i)
    for (int j = 0; j < kColumns + 2; ++j)
      memory[i][j] = i == 0 || first + i > last || j == 0 || j > kColumns ? -1 : value(first + i - 1, j - 1);
  const tw_dim mine[2] = {{kRows, first, last - first, 1, 1}, {kColumns, 0, kColumns, 1, 1}};
  const int64_t number = 1000 + rank;
  char letters[kText];
  memset(letters, 'a' + rank, sizeof letters);
  tw_file* file;
  tw_request* request;
  size_t moved;
  check(tw_file_open(group, path(".dat"), TW_CREATE | TW_TRUNCATE, NULL, &file));
  check(tw_file_write_array(file, memory, sizeof(double), 2, mine, TW_ROW_MAJOR, 0));
  check(tw_file_seek(file, 8 * kItems, SEEK_SET, NULL));
  check(tw_file_write_all(file, letters, (size_t)rank + 1));
  check(tw_file_iwrite_at(file, &number, 8, 8 * kItems + ranks * (ranks + 1) / 2 + 8 * rank, &request));
  check(tw_request_wait(&request, &moved));
  expect(moved == 8, "bytes of a request");
  check(tw_file_close(&file));
}

static void read_shared(int writers) {
  char expected[kText], rest[kText];
  size_t n = 0, nread;
  for (int r = 0; r < writers; n += (size_t)++r) memset(expected + n, 'a' + r, (size_t)r + 1);
  for (int r = 0; r < writers; ++r, n += 8) memcpy(expected + n, &(int64_t){1000 + r}, 8);
  const int64_t left = kColumns * rank / ranks, columns = kColumns * (rank + 1) / ranks - left;
  const tw_dim mine[2] = {{kRows, 0, kRows, 0, 0}, {kColumns, left, columns, 0, 0}};
  double part[kItems];
  int64_t size;
  tw_file* file;
  check(tw_file_open(group, path(".dat"), TW_READ, NULL, &file));
  check(tw_file_size(file, &size));
  expect(size == 8 * kItems + (int64_t)n, "length of the shared file");
  check(tw_file_read_array(file, part, sizeof(double), 2, mine, TW_ROW_MAJOR, 0, NULL));
  for (int64_t k = 0; k < kRows * columns; ++k) expect(part[k] == value(k / columns, left + k % columns), "columns");
  check(tw_file_read_at_all(file, rest, n + 1, 8 * kItems, &nread));
  expect(nread == n && memcmp(rest, expected, n) == 0, "bytes behind the field");
  check(tw_file_close(&file));
}

static tw_options* with_shape(int64_t columns) {
  tw_options* options;
  check(tw_options_create(&options));
  check(tw_options_set_shape(options, 2, (const int64_t[]){kRows, columns}));
  return options;
}

static void write_cells(void) {
  double field[kItems];
  int64_t even[kItems];
  uint8_t mask[kItems];
  int n = 0;
  for (int k = 0; k < n_mine; ++k) {
    field[k] = item(first, k);
    mask[k] = (first + k / kColumns) % 2 == 0;
    if (mask[k] != 0) even[n++] = first + k / kColumns;
  }
  tw_options* options = with_shape(kColumns);
  tw_vpfile* file;
  check(tw_vpfile_open(group, path(".vp"), TW_CREATE | TW_TRUNCATE, options, &file));
  tw_options_free(&options);
  check(tw_vpfile_write_all(file, TW_VPFILE_PACKED(field, 8), NULL, NULL));
  check(tw_vpfile_write_all(file, TW_VPFILE_PACKED(even, 8), mask, NULL));
  check(tw_vpfile_close(&file));
}

static void read_cells(void) {
  double field[kItems];
  int64_t even[kItems], counts[kItems], stream[3];
  size_t nread;
  tw_vpfile* file;
  check(tw_vpfile_open(group, path(".vp"), TW_READ, NULL, &file));
  check(tw_vpfile_read_all(file, TW_VPFILE_PACKED(field, 8), NULL, NULL));
  check(tw_vpfile_read_all(file, TW_VPFILE_PACKED(even, 8), NULL, counts));
  for (int k = 0; k < n_mine; ++k) {
    const int i = first + k / kColumns;
    expect(field[k] == item(first, k), "field of the virtual processors");
    expect(counts[k] == (i % 2 == 0) && (i % 2 != 0 || even[k] == i), "items under the mask");
  }
  const int64_t vp = first * kColumns + 5;
  check(tw_vpfile_seek(file, vp, 0, SEEK_SET));
  check(tw_vpfile_read(file, vp, stream, sizeof stream, &nread));
  expect(nread == (first % 2 == 0 ? 16 : 8) && memcmp(stream, &(double){value(first, 5)}, 8) == 0, "one stream");
  expect(first % 2 != 0 || stream[1] == first, "end of one stream");
  check(tw_vpfile_close(&file));
}

/* Notes the message of a call that fails on all ranks, without the task that it names where there are several. */
static void fails(tw_status status, tw_status wanted) {
  char mine[kText / 2] = "", of_rank_0[kText / 2];
  expect(status == wanted, "status of a failure");
  strncpy(mine, tw_last_error(), sizeof mine - 1);
  memcpy(of_rank_0, mine, sizeof mine);
  check(tw_group_broadcast(group, of_rank_0, sizeof of_rank_0, 0));
  expect(strcmp(mine, of_rank_0) == 0, "one message on all ranks");
  strcat(strcat(failures, mine + (strncmp(mine, "task 0: ", 8) == 0 ? 8 : 0)), "\n");
}

static void have_failures(void) {
  tw_multifile* multifile;
  tw_vpfile* vpfile;
  tw_file* file;
  double u;
  failures[0] = '\0';
  fails(tw_multifile_open(group, path(".missing"), TW_READ, NULL, &multifile), TW_ERR_NOT_FOUND);
  tw_options* options = with_shape(rank == 0 ? -1 : kColumns);
  fails(tw_vpfile_open(group, path(".none"), TW_CREATE, options, &vpfile), TW_ERR_INVALID);
  tw_options_free(&options);
  check(tw_options_create(&options));
  check(tw_options_set_hint(options, "colour", "blue"));
  fails(tw_file_open(group, path(".dat"), TW_READ, options, &file), TW_ERR_UNKNOWN_HINT);
  tw_options_free(&options);
  check(tw_file_open(group, path(".dat"), TW_READ, NULL, &file));
  fails(tw_file_write_at_all(file, &u, 8, 0), TW_ERR_MODE);
  fails(tw_file_read_at_all(file, &u, 8, rank == 0 ? -1 : 0, NULL), TW_ERR_INVALID);
  check(tw_file_read_at_all(file, &u, 8, 8, NULL));
  expect(u == value(0, 1), "a read after failures");
  check(tw_file_close(&file));
}

static int line_of(int r, int n, char* text) {
  return snprintf(text, kText, "rank %d has rows %d to %d\n", r, kRows * r / n, kRows * (r + 1) / n - 1);
}

static void write_multifile(void) {
  double field[kItems];
  for (int k = 0; k < n_mine; ++k) field[k] = item(first, k);
  char text[kText], name[40];
  tw_multifile* file;
  tw_request* request;
  check(tw_multifile_open(group, path(".tw"), TW_CREATE | TW_TRUNCATE, NULL, &file));
  check(tw_multifile_write(file, (const int64_t[]){first, last}, 16));
  check(tw_multifile_write(file, field, 8 * (size_t)n_mine));
  check(tw_multifile_isync(file, &request));
  snprintf(name, sizeof name, "log/%d", rank);
  check(tw_multifile_add(file, name, 0100644));
  check(tw_multifile_write(file, text, (size_t)line_of(rank, ranks, text)));
  snprintf(text, sizeof text, "%d", ranks);
  check(tw_multifile_set_attribute(file, "ranks", text, strlen(text)));
  check(tw_multifile_set_attribute(file, "failures", failures, strlen(failures)));
  check(tw_request_wait(&request, NULL));
  check(tw_multifile_close(&file));
}

static int read_multifile(void) {
  const void* told;
  size_t n;
  char text[kText], line[kText], name[40];
  double field[kItems + 1];
  int64_t rows[2], log;
  tw_multifile* file;
  check(tw_multifile_open(group, path(".tw"), TW_READ, NULL, &file));
  check(tw_multifile_attribute(file, "ranks", &told, &n));
  snprintf(text, sizeof text, "%.*s", (int)n, (const char*)told);
  const int writers = atoi(text);
  check(tw_multifile_attribute(file, "failures", &told, &n));
  expect(n == strlen(failures) && memcmp(told, failures, n) == 0, "messages of the writer");
  expect(tw_multifile_find(file, "log/none", &log) == TW_ERR_NOT_FOUND, "a name that is missing");
  for (int w = writers * rank / ranks; w < writers * (rank + 1) / ranks; ++w) {
    check(tw_multifile_seek_to(file, w, 0));
    check(tw_multifile_read(file, rows, sizeof rows, NULL));
    expect(rows[0] == kRows * w / writers && rows[1] == kRows * (w + 1) / writers, "first and last row");
    check(tw_multifile_read(file, field, sizeof field, &n));
    expect((int64_t)n == 8 * kColumns * (rows[1] - rows[0]), "end of a logical file");
    for (size_t k = 0; k < n / 8; ++k) expect(field[k] == item(rows[0], (int64_t)k), "rows of a logical file");
    snprintf(name, sizeof name, "log/%d", w);
    check(tw_multifile_find(file, name, &log));
    check(tw_multifile_seek_to(file, log, 0));
    check(tw_multifile_read(file, text, sizeof text, &n));
    expect((int)n == line_of(w, writers, line) && memcmp(text, line, n) == 0, "text of a log file");
  }
  check(tw_multifile_close(&file));
  return writers;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  check(tw_group_mpi(MPI_COMM_WORLD, &group));
  rank = (int)tw_group_rank(group);
  ranks = (int)tw_group_size(group);
  first = kRows * rank / ranks;
  last = kRows * (rank + 1) / ranks;
  n_mine = (last - first) * kColumns;
  expect(argc > 2, "usage: cases write|read PREFIX...");
  for (int i = 2; i < argc; ++i) {
    const int writes = strcmp(argv[1], "write") == 0;
    prefix = argv[i];
    if (writes) write_shared(), write_cells();
    have_failures();
    if (writes)
      write_multifile();
    else
      read_shared(read_multifile()), read_cells();
  }
  tw_group_free(&group);
  MPI_Finalize();
  return 0;
}
