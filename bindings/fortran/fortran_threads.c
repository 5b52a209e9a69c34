/* Groups of OpenMP threads for module thalweg. */
#include <thalweg/group_omp.h>

#include "thalweg_fortran.h"

tw_status tw_f_group_threads(const void* comm, tw_group** group) {
  if (comm == NULL) return tw_group_omp(group);
  tw_group* ranks = NULL;
  /* Where it fails, thread 0 goes on without ranks, which fails on all threads of all ranks. */
  if (omp_get_thread_num() == 0) tw_status_ignore(tw_f_group_mpi(comm, &ranks));
  const tw_status status = tw_group_hybrid_omp(ranks, group);
  tw_group_free(&ranks);
  return status;
}
