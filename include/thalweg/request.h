/* Requests: operations that were started and go on while the program computes. C11 and C++.
 *
 * A request belongs to the task that started it. Whoever waits for one request advances all of the process, so any
 * order of waiting is fine. Where MPI was initialised for less than MPI_THREAD_MULTIPLE, collectives of ranks are
 * advanced only by threads that have started or awaited such, or called a collective of ranks: in any call in which
 * they wait (but see tw_mpi_take_turns() in group_mpi.h). Below MPI_THREAD_SERIALIZED only the main thread may
 * start, test or await them.
 *
 * There is no cancel: an operation that was started is completed, at the latest by closing its file or, for ranks, by
 * MPI_Finalize(). A program that ends with requests outstanding ends; what they had not done yet is not done.
 *
 * A child of fork() has none of the library's threads: it may exit or exec, but what it starts, awaits or tests in the
 * library need not end.
 *
 * Threads: one call at a time per request; calls for different requests are independent. */
#ifndef THALWEG_REQUEST_H
#define THALWEG_REQUEST_H

#include <stddef.h>
#include <stdint.h>

#include "export.h"
#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tw_request tw_request; /* made by tw_i... calls; freed when it was found complete */

/* Waits until the request is complete, frees it and sets *request to NULL. A NULL *request is complete: TW_OK, 0 bytes.
 * Call: independent, though the operation may be collective. Blocking: yes; sleeps rather than spins.
 * moved [out] bytes moved for this task; may be NULL.
 * Returns the status of the operation, or TW_ERR_INVALID (request is NULL). Since 0.2. */
TW_API tw_status tw_request_wait(tw_request** request, size_t* moved);

/* Advances, and tells whether the request is complete; if so it is freed and *request becomes NULL.
 * Call: independent. Blocking: no. done [out] 1 or 0. moved [out] set when done; may be NULL.
 * Returns the status of the operation when done, else TW_OK; TW_ERR_INVALID (NULL). Since 0.2. */
TW_API tw_status tw_request_test(tw_request** request, int* done, size_t* moved);

/* Waits for all n. Call: independent. Blocking: yes.
 * statuses [out] that of each, may be NULL; moved [out] bytes of each, may be NULL.
 * Returns TW_OK, or the first failure among them in their order. Since 0.2. */
TW_API tw_status tw_request_waitall(size_t n, tw_request** requests, tw_status* statuses, size_t* moved);

/* Waits until one of n is complete. Call: independent. Blocking: yes.
 * index [out] which; n when all are NULL. moved [out] its bytes; may be NULL.
 * Returns its status. Since 0.2. */
TW_API tw_status tw_request_waitany(size_t n, tw_request** requests, size_t* index, size_t* moved);

#ifdef __cplusplus
}
#endif
#endif
