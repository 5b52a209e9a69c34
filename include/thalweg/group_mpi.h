/* Groups of MPI ranks. C11 and C++; needs libthalweg_mpi. The only C header that includes mpi.h.
 *
 *     tw_group *group;
 *     tw_group_mpi(MPI_COMM_WORLD, &group);   // after MPI_Init, before MPI_Finalize
 *     ...
 *     tw_group_free(&group);                  // before MPI_Finalize
 *
 * MPI_Finalize with requests outstanding completes those of groups of ranks first, as tw_request_wait() would: each
 * rank must have started them, or start them still on another thread. They can be waited for afterwards. With files and
 * groups open it succeeds too, and what was written is in the files, but for the data of a handle that another thread
 * is using and, where only some ranks forget the close, the last unflushed row of collective writes of a vpfile; later
 * calls on them fail with TW_ERR_INVALID, also the closes, which free the handle all the same. What a multifile writes
 * at its close is missing then: it is readable as after a crash. tw_group_free() stays fine. The library notices the
 * end by a weak MPI_Finalize() of its own: name it before MPI when you link (CMake: thalweg::mpi alone, or before
 * MPI::MPI_C). Where it is not found, or a tool takes the call before it, and MPI is MPICH with MPI_THREAD_MULTIPLE,
 * complete the requests before.
 *
 * Errors that MPI reports on what the library does come back as TW_ERR_IO with the text of MPI: its communicators have
 * MPI_ERRORS_RETURN. The error handlers of the program's communicators stay as they are, and hear of tw_group_mpi()
 * failing to duplicate one. After such an error MPI promises nothing about the communicator, nor does the library about
 * the group. What is known to one rank only cannot be reported to the others: they may wait in MPI for ever, or fail.
 * Memory: a rank that runs out of it ends the program, with one line on standard error and MPI_Abort: where MPI reports
 * an error to a process that is refused 8 MiB of address space, or completes nothing for 10 s in one that is refused 64
 * KiB, or for 60 s in one that is refused 8 MiB.
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
 * Call:     collective over `comm`.
 * Blocking: yes.
 * Threads:  as the thread level of MPI allows; with less than MPI_THREAD_SERIALIZED this and every call on the group is
 *           made by the thread that initialised MPI.
 * comm   [in]  an intra-communicator. Duplicated: it may be freed, and its traffic does not mix with ours.
 * group  [out] set only on success; free it with tw_group_free(), collectively and before MPI_Finalize().
 * Returns TW_OK, TW_ERR_INVALID (group is NULL, MPI is not initialised or finalised already, comm is MPI_COMM_NULL or
 * an inter-communicator, wrong thread), TW_ERR_IO (MPI reports an error), TW_ERR_NO_MEMORY. Since 0.2. */
TW_API_STATUS tw_status tw_group_mpi(MPI_Comm comm, tw_group** group);

/* As tw_group_mpi(), for a communicator of Fortran: comm%MPI_VAL with `use mpi_f08`, the integer itself with `use mpi`.
 * Since 0.2. */
TW_API_STATUS tw_status tw_group_mpi_f(MPI_Fint comm, tw_group** group);

/* ---- Threads that take turns --------------------------------------------------------------------------------------
 * Where MPI was initialised for MPI_THREAD_MULTIPLE nothing here is needed. With MPI_THREAD_SERIALIZED the library
 * calls MPI only within calls of the program, and only on threads that make calls on groups of ranks: a thread that has
 * called a collective of ranks, or started or awaited such a request, may do so in whichever call of the library it
 * waits, and each of these counts as a call of MPI. Threads of one hybrid group may always be in its collective
 * together: there the library takes turns with itself. A program that takes turns too lets the progress thread call
 * MPI, so that collectives of ranks advance while it computes. */

/* The promise of the program to take turns: from now on it calls MPI only between tw_mpi_lock() and tw_mpi_unlock(), or
 * while no request of this process is outstanding. TW_PROGRESS_THREAD then means for accesses that are started from now
 * on, by groups of ranks, what it means for others. The environment variable THALWEG_MPI_TURNS=1 gives the promise for
 * the whole run. It cannot be taken back.
 * Call:     independent; before or after MPI_Init.
 * Blocking: no.
 * Threads:  any.
 * Returns TW_OK, or TW_ERR_INVALID: MPI was initialised for less than MPI_THREAD_SERIALIZED. Since 0.2. */
TW_API_STATUS tw_status tw_mpi_take_turns(void);

/* Between the two the library calls MPI on no other thread. Requests of ranks stand still meanwhile: what must not be
 * held is a call of MPI that waits for what another rank does only when such a request is complete. A thread
 * may lock several times, unlocks as often, and may call the library in between.
 * Call:     independent.
 * Blocking: until it is this thread's turn; the library keeps it for single calls of MPI that do not wait.
 * Threads:  any. Since 0.2. */
TW_API void tw_mpi_lock(void);
TW_API void tw_mpi_unlock(void);

#ifdef __cplusplus
}
#endif
#endif
