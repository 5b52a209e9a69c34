/* Every MPI rank adds logical files by names, as it needs them; then one is found by its name.
 *     mpiexec -n 4 example_c_names run.tw */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <thalweg/group_mpi.h>
#include <thalweg/thalweg.h>

#include "check.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const char* path = argc > 1 ? argv[1] : "run.tw";
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  tw_group* group;
  tw_options* options;
  tw_multifile* file;
  check(tw_group_mpi(MPI_COMM_WORLD, &group));
  check(tw_options_create(&options));
  check(tw_options_set_range(options, 0, 0, 0)); /* no numbered logical files: only those that are added */
  check(tw_multifile_open(group, path, TW_CREATE | TW_TRUNCATE, options, &file)); /* collective */
  for (int step = 0; step <= rank; ++step) {                                      /* each rank as many as it needs */
    char name[64], text[64];
    snprintf(name, sizeof name, "step%d/rank%d.txt", step, rank);
    snprintf(text, sizeof text, "written by rank %d in step %d\n", rank, step);
    check(tw_multifile_add(file, name, 0100644)); /* independent: any task, any time, no message */
    check(tw_multifile_write(file, text, strlen(text)));
  }
  check(tw_multifile_close(&file)); /* collective: gives the ranks */
  tw_options_free(&options);
  tw_group_free(&group);

  if (rank == 0) {
    char text[64];
    int64_t found;
    size_t n;
    check(tw_multifile_open(NULL, path, TW_READ, NULL, &file));
    check(tw_multifile_find(file, "step0/rank0.txt", &found)); /* a few reads, however many names there are */
    check(tw_multifile_seek_to(file, found, 0));
    check(tw_multifile_read(file, text, sizeof text, &n));
    printf("%.*s", (int)n, text);
    check(tw_multifile_close(&file));
  }
  MPI_Finalize();
  return 0;
}
