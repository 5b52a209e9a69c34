/* Groups: who takes part. C11 and C++; includes neither mpi.h nor omp.h.
 *
 * A *group* is a set of *tasks*, numbered 0 .. size-1; every task holds its own handle, which knows its number (its
 * rank). Tasks are threads (of an OpenMP region, std::thread, pthreads), MPI ranks, all threads of all ranks, or
 * whatever the caller's own messages connect. Everything collective in the library takes a group.
 *
 *     self       one task                           tw_group_self()
 *     team       threads of one process             tw_team_create(), tw_group_team(); OpenMP: group_omp.h
 *     mpi        the ranks of a communicator        group_mpi.h
 *     hybrid     all threads of all ranks           tw_group_hybrid(); OpenMP: group_omp.h
 *     callbacks  SHMEM, GASPI, UPC++, Julia, ...    tw_group_callbacks()
 *
 * Collective calls are made by every task of the group, in the same order. They block until this task's part is done;
 * a task that waits long sleeps. A call that fails on one task fails on all, with the same status and message. Only a
 * NULL handle is an error of its caller alone: there is no group to inform.
 *
 * A task that skips a collective call, or makes another one, keeps the others waiting. Threads of a team that make
 * different calls at once are detected, also where the calls are made on different handles (a file and its group): all
 * get TW_ERR_INVALID, and the message names two tasks and their calls. A task that has freed its group is named in the
 * same way. From then on the handles involved fail at once in every collective call. Tasks of any group are detected
 * where they make different calls on one open file (file.h, vpfile.h). Ranks of tw_group_mpi() are detected in any
 * blocking collective calls with THALWEG_CHECK=1 in the environment. A nonblocking collective against another call is
 * not detected.
 *
 * Threads: a handle serves one call at a time; handles of different tasks are independent. Design:
 * docs/design/groups.md. */
#ifndef THALWEG_GROUP_H
#define THALWEG_GROUP_H

#include <stddef.h>
#include <stdint.h>

#include "export.h"
#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tw_group tw_group; /* one task's view of a group; freed by tw_group_free() */
typedef struct tw_team tw_team;   /* what the threads of a team share; freed by tw_team_free() */

/* Makes a group of this task alone.
 * Call:     independent.
 * Blocking: no.
 * Threads:  any.
 * group  [out] set only on success; free it with tw_group_free().
 * Returns TW_OK, TW_ERR_INVALID (group is NULL), TW_ERR_NO_MEMORY. Since 0.2. */
TW_API_STATUS tw_status tw_group_self(tw_group** group);

/* Makes what a team of `tasks` threads shares. One thread calls it and hands the team to the others.
 * Call:     independent.
 * Blocking: no.
 * Threads:  any.
 * tasks  [in]  1 .. 1000000.
 * team   [out] set only on success; free it with tw_team_free().
 * Returns TW_OK, TW_ERR_INVALID, TW_ERR_NO_MEMORY. Since 0.2. */
TW_API_STATUS tw_status tw_team_create(int64_t tasks, tw_team** team);

/* Frees the team and sets *team to NULL. The groups made of it go on: what they share is freed with the last of them.
 * Call:     independent, after every thread has returned from tw_group_team().
 * Threads:  any one. NULL and the address of NULL do nothing. Since 0.2. */
TW_API void tw_team_free(tw_team** team);

/* Makes the group of task `rank` of a team.
 * Call:     independent, once for every rank, each by the thread that will use it.
 * Blocking: no.
 * Threads:  any, at once.
 * team   [in]  borrowed during the call only.
 * rank   [in]  0 .. tasks-1, not yet taken.
 * group  [out] set only on success; free it with tw_group_free().
 * Returns TW_OK, TW_ERR_INVALID (NULL, a rank out of range or taken), TW_ERR_NO_MEMORY. Since 0.2. */
TW_API_STATUS tw_status tw_group_team(tw_team* team, int64_t rank, tw_group** group);

/* Makes the group of all threads of all ranks. A thread's number is the threads of all lower ranks, plus its own; ranks
 * may have different numbers of threads. Only thread 0 of each rank communicates between processes, so that
 * MPI_THREAD_FUNNELED suffices if thread 0 is the one that initialised MPI.
 * Call:     collective over all threads of all ranks.
 * Blocking: yes.
 * Threads:  each thread of `threads` with its own handle.
 * threads [in]  the team of this process's threads (team or self). Copied.
 * ranks   [in]  the group of the processes; read by thread 0 only, ignored elsewhere (may be NULL there). Copied.
 * group   [out] set only on success; free it with tw_group_free(). It does not need `threads` or `ranks` any more.
 * Returns TW_OK, or on all tasks TW_ERR_INVALID (`group` is NULL on some; `threads` is no team), TW_ERR_NO_MEMORY,
 * TW_ERR_IO. That `ranks` is NULL where thread 0 gives it can be reported to the threads of that process only.
 * Since 0.2. */
TW_API_STATUS tw_status tw_group_hybrid(tw_group* threads, tw_group* ranks, tw_group** group);

/* The caller's messages. Zero-initialise, then set struct_size. */
typedef struct tw_transport {
  size_t struct_size; /* sizeof(tw_transport) */
  int64_t rank;       /* this task, 0 .. size-1 */
  int64_t size;       /* tasks, at least 1 */
  void* user;         /* given to every call, also by files that are open when the group is freed: until `release` */

  /* Sends nbytes_out bytes of `out` to task `to`, receives nbytes_in bytes into `in` from task `from`, and returns when
   * both are done. The receiver expects as many bytes as the sender sends; they may exceed 2^31. `to` or `from` is -1:
   * nothing is sent, or received. Both go on at once: a send need not be complete before the receive begins. Messages
   * from one task to another arrive in the order in which they were sent. Returns 0; another number means failure, and
   * then calls of other tasks that need a message of this one have to fail, too. */
  int (*send_receive)(void* user, const void* out, size_t nbytes_out, int64_t to, void* in, size_t nbytes_in,
                      int64_t from);

  /* May be NULL. Collective: *copy becomes a `user` whose messages do not mix with those of `user`. Where it is NULL
   * duplicates share `user`, and must not be used by several threads at once. */
  int (*duplicate)(void* user, void** copy);
  /* May be NULL. Called once for `user`, and for each copy, when its last group is freed. */
  void (*release)(void* user);

  /* May be NULL, both. Collective: each of n numbers of all tasks is replaced by its maximum. The first call returns at
   * once, with something that the second one gets, which waits until the numbers are those of all tasks; until then
   * they stay where they are. The second call may never come, from a task that gives a file up (tw_vpfile_abandon(),
   * ...) and so must not wait: without these calls the close of the others waits for it in vain. They do not mix with
   * the calls above, nor with those of duplicates, so they need `duplicate`. Since 0.2. */
  int (*start_largest)(void* user, int64_t* numbers, int64_t n, void** pending);
  int (*finish_largest)(void* user, void* pending);

  /* Any number that the tasks of one process (one node) have in common, and no others. Negative: this task has its own.
   * Tasks of one process share memory and file descriptors. Without knowledge set both to -1. */
  int64_t process_id;
  int64_t node_id;
} tw_transport;

/* Makes a group whose messages are the caller's. A collective takes about twice the logarithm of the number of tasks of
 * them, on each task. Accesses to files are not aggregated: each process moves its own. The callback waits, on the
 * thread that calls the library: so a nonblocking collective access of such a group is carried out in the call that
 * starts it.
 * Call:     collective over the tasks of `transport` (it calls them).
 * Blocking: yes.
 * Threads:  any.
 * transport [in]  copied; send_receive is needed. `user` is taken over: `release` is called for it also when this
 *                 fails, unless arguments are wrong.
 * group     [out] set only on success; free it with tw_group_free().
 * Returns TW_OK, TW_ERR_INVALID (on this task only: its arguments are wrong), TW_ERR_IO (a call failed),
 * TW_ERR_NO_MEMORY. Since 0.2. */
TW_API_STATUS tw_status tw_group_callbacks(const tw_transport* transport, tw_group** group);

/* Makes an independent group of the same tasks with the same ranks: collectives on the copy do not mix with those on
 * the original, so that two libraries, or two open files, can use one each.
 * Call:     collective.
 * Blocking: yes.
 * Threads:  one call at a time per handle.
 * copy  [out] set only on success; free it with tw_group_free().
 * Returns TW_OK, or on all tasks TW_ERR_NO_MEMORY, TW_ERR_IO. Since 0.2. */
TW_API_STATUS tw_status tw_group_duplicate(tw_group* group, tw_group** copy);

/* Frees the handle and sets *group to NULL. A file that was opened with the group keeps what it needs of the group,
 * which may be freed as soon as the open has returned.
 * Call:     collective for kinds mpi and hybrid (it may free a communicator; before MPI_Finalize), else independent.
 * Blocking: no.
 * Threads:  no other call on this handle at the time. NULL and the address of NULL do nothing. Since 0.2. */
TW_API void tw_group_free(tw_group** group);

/* This task's number; -1 for NULL.
 * Call:     independent.
 * Threads:  any. Since 0.2. */
TW_API int64_t tw_group_rank(const tw_group* group);
/* Number of tasks; -1 for NULL.
 * Call:     independent.
 * Threads:  any. Since 0.2. */
TW_API int64_t tw_group_size(const tw_group* group);
/* "self", "team", "mpi", "hybrid" or "callbacks"; "" for NULL. Static text.
 * Call:     independent.
 * Threads:  any. Since 0.2. */
TW_API const char* tw_group_kind(const tw_group* group);

/* Returns when all tasks have called.
 * Call:     collective.
 * Blocking: yes; spins for some microseconds where every thread has a core, then sleeps.
 * Threads:  one call at a time per handle.
 * Returns TW_OK, or on all tasks TW_ERR_IO (transport broken). Since 0.2. */
TW_API_STATUS tw_status tw_group_barrier(tw_group* group);

/* Copies the root's bytes to all tasks.
 * Call:     collective.
 * Blocking: yes.
 * Threads:  one call at a time per handle.
 * data    [in,out] nbytes bytes; may be NULL when nbytes is 0.
 * nbytes  [in]     the same on all tasks.
 * root    [in]     0 .. size-1, the same on all tasks.
 * Returns TW_OK, or on all tasks TW_ERR_INVALID (also: nbytes or root differ between tasks), TW_ERR_NO_MEMORY,
 * TW_ERR_IO. On failure `data` is undefined elsewhere than on the root. Since 0.2. */
TW_API_STATUS tw_status tw_group_broadcast(tw_group* group, void* data, size_t nbytes, int64_t root);

typedef int32_t tw_reduction; /* one of the values below */
enum { TW_MIN = 0, TW_MAX = 1, TW_SUM = 2, TW_BIT_OR = 3 };

/* Replaces values[i] by the minimum, maximum, sum (modulo 2^64) or bitwise or of values[i] of all tasks.
 * Call:     collective.
 * Blocking: yes.
 * Threads:  one call at a time per handle.
 * values [in,out] n numbers; may be NULL when n is 0.
 * n      [in]     the same on all tasks.
 * how    [in]     the same on all tasks.
 * Returns TW_OK, or on all tasks TW_ERR_INVALID (also: n or how differ between tasks), TW_ERR_NO_MEMORY, TW_ERR_IO. On
 * failure `values` is unchanged. Since 0.2. */
TW_API_STATUS tw_status tw_group_allreduce(tw_group* group, int64_t* values, int64_t n, tw_reduction how);

/* Makes one task's failure that of all: between two collectives nobody leaves alone.
 * Call:     collective.
 * Blocking: yes.
 * Threads:  one call at a time per handle.
 * mine      [in] TW_OK, or what went wrong on this task.
 * os_errno  [in] the errno behind it, 0 for none.
 * message   [in] in words; may be NULL.
 * Returns TW_OK when all gave TW_OK; else, on all tasks, the worst status, with tw_last_error() naming the task and
 * tw_last_errno() its errno. Since 0.2. */
TW_API_STATUS tw_status tw_group_agree(tw_group* group, tw_status mine, int os_errno, const char* message);

#ifdef __cplusplus
}
#endif
#endif
