/* Groups of MPI ranks. C11 and C++; needs libthalweg_mpi. The only C header that includes mpi.h.
 *
 *     tw_group *group;
 *     tw_group_mpi(MPI_COMM_WORLD, &group);   // after MPI_Init, before MPI_Finalize
 *     ...
 *     tw_group_free(group);                   // before MPI_Finalize
 *
 * All threads of all ranks: tw_group_hybrid() in group.h, or tw_group_hybrid_omp() in group_omp.h. */
#ifndef THALWEG_GROUP_MPI_H
#define THALWEG_GROUP_MPI_H

#include <mpi.h>

#include "export.h"
#include "group.h"
#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Makes a group of the ranks of a communicator.
 * Call: collective over `comm`. Blocking: yes. Threads: as the thread level of MPI allows; with less than
 * MPI_THREAD_SERIALIZED this and every call on the group is made by the thread that initialised MPI.
 * comm   [in]  an intra-communicator. Duplicated: it may be freed, and its traffic does not mix with ours.
 * group  [out] set only on success; free it with tw_group_free(), collectively and before MPI_Finalize().
 * Returns TW_OK, TW_ERR_INVALID (group is NULL, MPI is not initialised or finalised already, comm is MPI_COMM_NULL or
 * an inter-communicator, wrong thread), TW_ERR_IO (MPI reports an error), TW_ERR_NO_MEMORY. Since 0.1. */
TW_API tw_status tw_group_mpi(MPI_Comm comm, tw_group** group);

/* The same for a communicator of Fortran: comm%MPI_VAL with `use mpi_f08`, the integer itself with `use mpi`. Since
 * 0.1. */
TW_API tw_status tw_group_mpi_f(MPI_Fint comm, tw_group** group);

#ifdef __cplusplus
}
#endif
#endif
