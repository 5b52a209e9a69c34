/* Requests: operations that were started and proceed while the program computes. C11 and C++.
 *
 *     tw_request* requests[2];
 *     tw_file_iwrite_at_all(file, block, nbytes, offset, &requests[0]);   // by every task of the group
 *     tw_file_iread_at(file, other, nbytes, place, &requests[1]);         // by this task
 *     compute();
 *     tw_request_waitall(2, requests, NULL, NULL);
 *
 * tw_multifile_iflush() and tw_multifile_isync() return one as well.
 *
 * A request belongs to the task that started it; any thread of its process may wait for it. A thread that waits for one
 * request advances all requests of the process, so that any order of waiting is fine. Waiting for a collective lasts
 * until every task has started it and advances it, by a progress thread or by calls (tw_progress in file.h). Where MPI
 * was initialised for less than MPI_THREAD_MULTIPLE, collectives of ranks are advanced only by threads that have
 * started or awaited such, or called a collective of ranks: in any call in which they wait (but see tw_mpi_take_turns()
 * in group_mpi.h). Below MPI_THREAD_SERIALIZED only the main thread may start, test or await them.
 *
 * There is no cancel: an operation that was started is completed, at the latest by the close of its file or, for ranks,
 * by MPI_Finalize(). A program may end with requests outstanding; the rest of their work is then not done.
 *
 * A child of fork() has none of the library's threads: it may exit or exec, but what it starts, awaits or tests in the
 * library need not end.
 *
 * The calls have MPI's semantics: a request that is found complete is freed and its entry becomes NULL
 * (MPI_REQUEST_NULL); NULL entries are ignored; indices and counts are those of MPI with TW_UNDEFINED in place of
 * MPI_UNDEFINED.
 *
 *   call       waits until                frees                 without a request (n is 0, or all are NULL)
 *   wait       the request is complete    it                    TW_OK, moved is 0
 *   test       -                          it, if complete       done is 1, moved is 0
 *   waitall    all are complete           all                   TW_OK
 *   testall    -                          all or none           done is 1
 *   waitany    one is complete            one complete one      index is TW_UNDEFINED, moved is 0
 *   testany    -                          one complete one      done is 1, index is TW_UNDEFINED, moved is 0
 *   waitsome   at least one is complete   all complete ones     n_done is TW_UNDEFINED
 *   testsome   -                          all complete ones     n_done is TW_UNDEFINED
 *
 * Where several are complete, waitany and testany free the one with the lowest index.
 *
 * Unless a call says otherwise:
 *   Call       independent, though the operation may be collective.
 *   Blocking   wait... yes: sleeps rather than spins. test... no: advances what is outstanding, then looks.
 *   Threads    one call at a time per request; calls for different requests are independent.
 *   n          [in] entries of `requests`, >= 0.
 *   requests   [in,out] n of them, none twice; NULL entries are ignored. May be NULL when n is 0.
 *   done       [out] 1 or 0.
 *   index      [out] place in `requests`.
 *   moved      [out] bytes that were moved for this task, 0 if the operation failed; may be NULL. An array has its
 *              entries where `statuses` has them.
 *   statuses   [out] why each operation failed, or TW_OK; may be NULL. ...all: entry i is that of requests[i]. ...some:
 *              entry i is that of the request whose place indices[i] names.
 *   Returns    TW_OK; else the status of the operation that failed, of several the first in the order of `requests`;
 *              all [out] values are set. tw_last_error() has the message of that failure only: those of the others are
 *              lost, unless each request is waited for by itself. The call itself fails with TW_ERR_INVALID (an
 *              argument is NULL, n is negative) or TW_ERR_NO_MEMORY (...any, ...some): no request was freed, and no
 *              [out] value is set. An operation may fail with these two as well: if an entry of `requests` became NULL,
 *              the status is that of an operation.
 *   Since      0.2. */
#ifndef THALWEG_REQUEST_H
#define THALWEG_REQUEST_H

#include <stddef.h>
#include <stdint.h>

#include "export.h"
#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tw_request tw_request; /* made by the tw_file_i... calls; freed by the call that finds it complete */

enum { TW_UNDEFINED = -1 }; /* an index or a count where there is no request */

/* Waits for one request. */
TW_API_STATUS tw_status tw_request_wait(tw_request** request, size_t* moved);

/* Whether the request is complete. `moved` is set when it is. */
TW_API_STATUS tw_status tw_request_test(tw_request** request, int* done, size_t* moved);

/* Waits for all n requests.
 * statuses, moved  [out] n entries each; TW_OK and 0 where requests[i] was NULL. */
TW_API_STATUS tw_status tw_request_waitall(int64_t n, tw_request** requests, tw_status* statuses, size_t* moved);

/* Whether all n requests are complete. If not, no request is freed, and `statuses` and `moved` are not set.
 * statuses, moved  [out] as of tw_request_waitall(). */
TW_API_STATUS tw_status tw_request_testall(int64_t n, tw_request** requests, int* done, tw_status* statuses,
                                           size_t* moved);

/* Waits until a request is complete, and frees the complete one with the lowest index. */
TW_API_STATUS tw_status tw_request_waitany(int64_t n, tw_request** requests, int64_t* index, size_t* moved);

/* Whether a request is complete, and frees the complete one with the lowest index. If none is, `done` is 0, `index` is
 * TW_UNDEFINED, and `moved` is not set. */
TW_API_STATUS tw_status tw_request_testany(int64_t n, tw_request** requests, int* done, int64_t* index, size_t* moved);

/* Waits until at least one request is complete, and frees all that are.
 * n_done           [out] how many were freed.
 * indices          [out] room for n; the first n_done entries become the places of these in `requests`, ascending.
 * statuses, moved  [out] room for n each; the first n_done entries are set, in the order of `indices`. */
TW_API_STATUS tw_status tw_request_waitsome(int64_t n, tw_request** requests, int64_t* n_done, int64_t* indices,
                                            tw_status* statuses, size_t* moved);

/* As tw_request_waitsome() without waiting: `n_done` is 0 when there are requests, but none is complete. */
TW_API_STATUS tw_status tw_request_testsome(int64_t n, tw_request** requests, int64_t* n_done, int64_t* indices,
                                            tw_status* statuses, size_t* moved);

#ifdef __cplusplus
}
#endif
#endif
