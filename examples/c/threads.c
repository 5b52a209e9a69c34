/* The threads of an OpenMP region each write their own logical file.
 *     OMP_NUM_THREADS=4 example_c_threads trace.tw */
#include <thalweg/group_omp.h>
#include <thalweg/thalweg.h>

#include "check.h"

int main(int argc, char** argv) {
  const char* path = argc > 1 ? argv[1] : "trace.tw";
#pragma omp parallel
  {
    tw_group* group;
    tw_multifile* file;
    check(tw_group_omp(&group));
    check(tw_multifile_open(group, path, TW_CREATE | TW_TRUNCATE, NULL, &file)); /* by all threads */
    for (int event = 0; event < 100000; ++event) {
      const int32_t record[2] = {omp_get_thread_num(), event};
      check(tw_multifile_write(file, record, sizeof record)); /* small records are gathered; nobody waits for anybody */
    }
    check(tw_multifile_close(&file)); /* by all threads */
    tw_group_free(&group);
  }
  return 0;
}
