/* Groups of the threads of an OpenMP region. C11 and C++; header only; the only C header that includes omp.h.
 *
 *     #pragma omp parallel
 *     {
 *       tw_group *group;
 *       tw_group_omp(&group);     // by every thread of the region
 *       ...
 *       tw_group_free(&group);    // by every thread
 *     }
 *
 * The functions are compiled in the calling file, with its OpenMP flags and so with its OpenMP runtime: the library
 * itself is linked to none. The calling file must be compiled with OpenMP (-fopenmp). */
#ifndef THALWEG_GROUP_OMP_H
#define THALWEG_GROUP_OMP_H

#ifndef _OPENMP
#error "thalweg/group_omp.h needs OpenMP: compile this file with -fopenmp (or use thalweg/group.h without OpenMP)"
#endif

#include <omp.h>
#include <stddef.h>

#include "group.h"
#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Makes the group of the threads of the innermost parallel region; outside of any, a team of one.
 * Call:     collective: every thread of the region, as with a barrier; not inside a worksharing construct, single,
 *           master, critical or task.
 * Blocking: yes.
 * Threads:  each gets its own handle; its rank is omp_get_thread_num().
 * group  [out] set only on success; free it with tw_group_free(), within the region or after it.
 * Returns the same on all threads: TW_OK, TW_ERR_INVALID (group is NULL), TW_ERR_NO_MEMORY. Since 0.2. */
TW_MUST_CHECK static inline tw_status tw_group_omp(tw_group** group) {
  tw_team* team = NULL;
  tw_status shared = TW_OK; /* that of the thread that makes the team; it stays until the last barrier below */
  tw_status* worst = NULL;
  tw_status status;
  tw_status mine;
#pragma omp single copyprivate(team, worst)
  {
    worst = &shared;
    shared = tw_team_create(omp_get_num_threads(), &team);
  }
  mine = team == NULL ? TW_OK : tw_group_team(team, omp_get_thread_num(), group);
  if (mine != TW_OK) {
#pragma omp atomic write
    *worst = mine;
  }
#pragma omp barrier
#pragma omp atomic read
  status = *worst;
  if (status != TW_OK && team != NULL && mine == TW_OK) tw_group_free(group);
#pragma omp single
  tw_team_free(&team);
  return status;
}

/* Makes the group of all threads of the innermost parallel regions of all ranks: see tw_group_hybrid().
 * Call: collective over all threads of all ranks; the places are those of tw_group_omp().
 * ranks  [in]  the group of the processes, from tw_group_mpi(); read by thread 0 only. Copied.
 * Returns as tw_group_hybrid(). Since 0.2. */
TW_MUST_CHECK static inline tw_status tw_group_hybrid_omp(tw_group* ranks, tw_group** group) {
  tw_group* threads = NULL;
  tw_group* ranks_of_thread_0 = omp_get_thread_num() == 0 ? ranks : NULL;
  tw_status status = tw_group_omp(&threads);
  /* Thread 0 goes on without threads, to inform the other ranks. */
  if (status != TW_OK && ranks_of_thread_0 == NULL) return status;
  status = tw_group_hybrid(threads, ranks_of_thread_0, group);
  tw_group_free(&threads);
  return status;
}

#ifdef __cplusplus
}
#endif
#endif
