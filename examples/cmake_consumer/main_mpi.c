/* Each rank writes one line into its logical file; rank 0 reads them all. Start it with mpiexec. */
#include <stdio.h>
#include <string.h>
#include <thalweg/group_mpi.h>
#include <thalweg/thalweg.h>

static int failed(const char* what) {
  fprintf(stderr, "%s: %s\n", what, tw_last_error());
  return 1;
}

static int write_all(tw_group* group, const char* path, int rank) {
  tw_multifile* file = NULL;
  char text[32];
  const int length = snprintf(text, sizeof text, "rank %d was here\n", rank);
  if (tw_multifile_open(group, path, TW_CREATE | TW_TRUNCATE, NULL, &file) != TW_OK) return failed("create");
  const tw_status written = tw_multifile_write(file, text, (size_t)length);
  const tw_status closed = tw_multifile_close(&file);
  return written == TW_OK && closed == TW_OK ? 0 : failed("write");
}

static int read_all(const char* path, int n_ranks) {
  tw_multifile* file = NULL;
  if (tw_multifile_open(NULL, path, TW_READ, NULL, &file) != TW_OK) return failed("open");
  for (int rank = 0; rank < n_ranks; ++rank) {
    char text[32] = "";
    if (tw_multifile_seek_to(file, rank, 0) != TW_OK || tw_multifile_read(file, text, sizeof text - 1, NULL) != TW_OK)
      return failed("read");
    fputs(text, stdout);
  }
  return tw_multifile_close(&file) == TW_OK ? 0 : failed("close");
}

int main(int argc, char** argv) {
  int rank = 0;
  int size = 0;
  tw_group* group = NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  int bad = tw_group_mpi(MPI_COMM_WORLD, &group) != TW_OK ? failed("group") : write_all(group, "consumer_mpi.tw", rank);
  if (!bad && rank == 0) bad = read_all("consumer_mpi.tw", size);
  tw_group_free(&group);
  MPI_Finalize();
  return bad;
}
