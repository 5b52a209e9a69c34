/* A shared file: one plain file that a group of tasks writes and reads together. C11 and C++.
 *
 *     tw_file* file;
 *     tw_file_open(group, "field.dat", TW_CREATE, NULL, &file);   // by every task
 *     tw_file_write_all(file, block, nbytes);              // one block behind the other, in rank order
 *     tw_file_write_at_all(file, block, nbytes, offset);   // each at its own place
 *     tw_file_write_array(file, memory, sizeof(double), 2, dims, TW_ROW_MAJOR, 0);   // each its part of an array
 *     tw_file_close(&file);
 *
 * The file is plain: byte for byte what one sequential program would have written. Every access is a list of extents,
 * {address, length, offset}; the calls differ in how such a list is described. The library plans the access of the
 * group as a whole, and carries it out in the way that is cheapest on this storage (docs/design/engine.md; `thalweg
 * tune`).
 *
 *   place                                             collective                         independent
 *   from the shared position, in rank order           write_all, read_all                -
 *   at an offset                                      write_at_all, read_at_all          write_at, read_at
 *   from the position in the view of the task         write_view_all, read_view_all      write_view, read_view
 *   the part of an array that the task has            write_array, read_array            -
 *   a list of extents, or common to all tasks         access_all                         access
 *
 * Each has a nonblocking twin: tw_file_iwrite_all(), ..., tw_file_iaccess().
 *
 * Collective calls are made by every task of the group in the same order, blocking and nonblocking ones alike, each
 * with its own arguments; a task without data passes a length or a count of 0.
 *
 * A call that fails on one task fails on all: their status is that of the most severe failure, whose task the message
 * names. There are two exceptions. With a handle that is NULL or not open a task fails alone: it takes no part in the
 * call, and the others wait for it (but see `group` of tw_file_access_all()). A nonblocking call that has no request to
 * return fails at once, and the others find that failure in their requests.
 *
 * After a transfer that failed, the bytes of the file between the lowest offset and the highest end of the extents of
 * all tasks are undefined if it wrote, the memory is undefined if it read, and all other bytes are untouched. The file
 * and the group can be used further, except after a mismatch of calls or an abandon.
 *
 * A task that skips a collective call keeps the others waiting. Different blocking calls on one file at once (one task
 * closes, others write) are detected: all tasks get TW_ERR_INVALID, the message names two tasks and their calls, and
 * every later collective call on the file fails at once. Closing frees the handle then, too.
 *
 * Overlapping reads are fine. Where writes of one call overlap, each byte is from one of the tasks.
 *
 * Visibility: once a collective write has returned on a task, or its request was found complete there, every read that
 * begins later finds the bytes of all tasks, in every process; what one task wrote alone is found by every read that
 * begins after that write. No sync is needed for a group on one node, nor where the file system is known to keep the
 * caches of nodes coherent. Elsewhere (NFS, FUSE, SMB, ...) the tasks of a group on several nodes call tw_file_sync():
 * every read that begins after its return finds what all had written before. That holds for a task's own bytes, too,
 * after a collective write, which another node may have carried out. Nodes that write parts of one page do so in
 * collective calls; a task that writes alone, or task 0 in a common access, keeps to pages that no other write touches
 * between two syncs, and two writes of the same bytes have a sync between them (docs/reference/visibility.md).
 *
 * Durability: what was written survives the death of the process. Only tw_file_sync() makes it survive that of the
 * machine, or of the daemon of a mount (docs/reference/visibility.md, Failures). tw_file_close() syncs only a file that
 * tasks on several nodes have open for writing, where the file system is not known to keep their caches coherent.
 *
 * Nonblocking calls return at once with a request (request.h); only on a group of tw_group_callbacks() a collective one
 * is carried out in the call that starts it. Memory and lists of extents stay unchanged until a call of request.h finds
 * the request complete. Any number may be outstanding per file: up to four collectives of one file progress at once,
 * and a fifth is accepted and waits for its turn. The shared position moves as if the calls had been carried out in
 * their order.
 *
 * Accesses that are outstanding at the same time, and blocking ones made meanwhile, may be carried out in any order and
 * in parts: where their ranges overlap and one of them writes, each byte is that of one of them. Wait for the first
 * where that matters. A blocking call waits for requests in two cases only: tw_file_close() completes all, and a call
 * that uses the shared position waits until the earlier ones have moved it. So what is outstanding may or may not be
 * part of a size, a truncate or a sync.
 *
 * In the contracts below:
 *   Blocking   yes: the call may wait for other tasks, or until bytes are moved. no: it does neither.
 *   Threads    unless a call says otherwise: one call at a time per handle; handles of different tasks are independent.
 *              The exception are accesses with a `group` of threads (tw_file_access_all()), which use one handle at
 *              once. */
#ifndef THALWEG_FILE_H
#define THALWEG_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "export.h"
#include "group.h"
#include "open.h"
#include "request.h"
#include "status.h"
#include "view.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tw_file tw_file; /* one task's view of an open file; freed by tw_file_close() */

/* Opens one file for the group. Each process opens it once, however many tasks it has. The file is plain bytes: a task
 * that reads it while others write or truncate it reads what is there at that moment. open.h says what the arguments
 * have in common with the other opens.
 * Call:      collective.
 * Blocking:  yes.
 * Threads:   one call at a time per group handle.
 * flags      [in]  TW_READ, TW_WRITE or both; TW_CREATE, TW_EXCLUSIVE, TW_TRUNCATE, TW_APPEND, TW_DIRECT.
 * options    [in]  hints, permissions; those of task 0.
 * file       [out] set on success, else NULL.
 * Returns    TW_OK, or on all tasks TW_ERR_INVALID (path or file is NULL; flags or paths that differ; flags that are
 *            unknown, or contradict each other, as TW_EXCLUSIVE does without TW_CREATE; options of another kind of
 *            file), TW_ERR_UNKNOWN_HINT, TW_ERR_NOT_FOUND, TW_ERR_EXISTS, TW_ERR_PERMISSION, TW_ERR_IO,
 *            TW_ERR_NO_SPACE, TW_ERR_NO_MEMORY, TW_ERR_UNSAFE (for writing: the file is a physical file of a multifile,
 *            or a file of a vpfile; nothing is touched).
 * Since      0.2. */
TW_API_STATUS tw_status tw_file_open(tw_group* group, const char* path, int32_t flags, const tw_options* options,
                                     tw_file** file);

/* Completes outstanding operations, then closes the file, frees the handle, also on failure, and sets *file to NULL. It
 * syncs only where tasks on several nodes have the file open for writing and the file system is not known to keep their
 * caches coherent: then each process also drops the cached pages of its node. Requests stay valid until they are waited
 * for; one that never is was completed here all the same, and leaks a few hundred bytes.
 * Call:      collective.
 * Blocking:  yes.
 * Threads:   no other call on this handle meanwhile.
 * Returns    TW_OK, or on all tasks TW_ERR_IO, TW_ERR_NO_SPACE (what the file system could not keep), TW_ERR_NOT_CLOSED
 *            (a task has abandoned the file), TW_ERR_INVALID (the tasks make different calls), TW_ERR_NO_MEMORY,
 *            TW_ERR_UNSAFE (after the sync a node still sees an old size). On this task alone
 *            TW_ERR_INVALID (MPI has ended, and the handle is freed all the same), and where no handle is freed
 *            TW_ERR_INVALID (it is NULL or not open), TW_ERR_MODE (a child of fork() closes a file of several tasks).
 * Since      0.2. */
TW_API_STATUS tw_status tw_file_close(tw_file** file);

/* Gives the file up instead of closing it, for a task that cannot go on: after a failure of its own, or while an
 * exception unwinds. Frees the handle and sets *file to NULL. The other tasks keep theirs, and every collective call
 * that they make on it from then on fails on all of them with TW_ERR_NOT_CLOSED, tw_file_close() too, which frees it.
 * Waits for nobody, whether the others are in a collective call, elsewhere, or gone. Outstanding requests are completed
 * where all tasks have started them; the others fail. On a group of tw_group_callbacks() the others find out only where
 * it has start_largest.
 * Call:      independent.
 * Blocking:  no.
 * Threads:   no other call on this handle meanwhile.
 * Returns    TW_OK, TW_ERR_INVALID and TW_ERR_MODE as tw_file_close() on this task alone.
 * Since      0.2. */
TW_API_STATUS tw_status tw_file_abandon(tw_file** file);

/* ---- The file as a whole ------------------------------------------------------------------------------------------
 * Call:      collective, with equal values on all tasks; each task has its own place for what is [out].
 * Blocking:  yes.
 * Returns    TW_OK, or on all tasks TW_ERR_INVALID (values that differ, and what is said below), TW_ERR_MODE (a call
 *            that changes the file, which is not open for writing), TW_ERR_IO, TW_ERR_NO_SPACE, TW_ERR_NO_MEMORY,
 *            TW_ERR_NOT_CLOSED (a task has abandoned the file). On this task alone TW_ERR_INVALID (file is NULL or not
 *            open).
 * Since      0.2. */

/* Gives the length of the file: the largest that a node finds.
 * nbytes     [out] the length after every task has made the call. NULL is TW_ERR_INVALID. */
TW_API_STATUS tw_status tw_file_size(tw_file* file, int64_t* nbytes);

/* Cuts the file, or extends it with a hole.
 * nbytes     [in]  the new length, >= 0. */
TW_API_STATUS tw_status tw_file_truncate(tw_file* file, int64_t nbytes);

/* Reserves storage; the file is at least offset + nbytes long afterwards, also where the file system cannot reserve.
 * nbytes     [in]  bytes to reserve; 0 does nothing.
 * offset     [in]  where they begin, >= 0. An end above 2^63-1 is TW_ERR_RANGE. */
TW_API_STATUS tw_status tw_file_preallocate(tw_file* file, size_t nbytes, int64_t offset);

/* Makes the bytes survive the death of the machine that were written by calls and requests that are complete on every
 * task. The entry of a new file in its folder is not part of that. Then the tasks on all nodes find them (Visibility,
 * above); TW_ERR_UNSAFE where one node is shown an old size nevertheless. After a failure to write, every later sync of
 * this open file returns the same failure. */
TW_API_STATUS tw_status tw_file_sync(tw_file* file);

/* Moves the shared position. On failure it stays.
 * offset     [in]  bytes to move by, from the place that `whence` names; may be negative.
 * whence     [in]  SEEK_SET, SEEK_CUR or SEEK_END of stdio.h.
 * position   [out] the new position; may be NULL. One below 0 or above 2^63-1 is TW_ERR_INVALID. */
TW_API_STATUS tw_status tw_file_seek(tw_file* file, int64_t offset, int whence, int64_t* position);

/* ---- Views --------------------------------------------------------------------------------------------------------
 * A task sees through its handle the bytes of the file or, once it has set a view (view.h), the bytes of that view,
 * which repeats from `displacement` on, its copies tw_view_extent() bytes apart. Each task has its own view. The
 * placement of an access says what a view means for it:
 *
 *   TW_AT_OFFSET   offsets count the bytes of the view (tw_file_..._at, tw_file_..._at_all)
 *   TW_IN_VIEW     the access begins at the task's position in its view, which moves by the bytes asked for
 *                  (tw_file_..._view, tw_file_..._view_all)
 *   TW_AT_EXTENTS  offsets are of the file, as without a view (lists of tw_access, tw_file_..._array)
 *   TW_IN_ORDER    is TW_ERR_INVALID (tw_file_write_all, tw_file_read_all): the shared position counts bytes of the
 *                  file
 *
 * An access takes 24 bytes of memory for each piece of the view that it touches. It is placed at the call: a view that
 * is set while requests are outstanding is for later calls. */

/* Sets the view of this task; its position becomes 0. tw_file_set_view(file, 0, NULL) removes it. Without a view
 * TW_IN_VIEW works too: the task then has a position of its own in the file.
 * Call:         collective, each task with its own arguments.
 * Blocking:     yes.
 * displacement  [in] offset in the file, >= 0, where the view begins.
 * view          [in] kept by the file; may be freed at once. NULL: the bytes of the file from `displacement` on.
 * Returns       TW_OK, or on all tasks, whose views then stay as they were, TW_ERR_INVALID (a negative displacement;
 *               for a file that is open for writing, a view that has a byte twice, where the library finds that out
 *               (view.h)), TW_ERR_RANGE (beyond 2^63-1), TW_ERR_NO_MEMORY, TW_ERR_NOT_CLOSED (a task has abandoned the
 *               file). On this task alone TW_ERR_INVALID (file is NULL or not open).
 * Since         0.2. */
TW_API_STATUS tw_status tw_file_set_view(tw_file* file, int64_t displacement, const tw_view* view);

/* Moves this task's position in its view. On failure it stays.
 * Call:      independent.
 * Blocking:  no.
 * offset     [in]  bytes of the view to move by, from the place that `whence` names; may be negative.
 * whence     [in]  SEEK_SET, SEEK_CUR or SEEK_END of stdio.h; the end is behind the last byte of the view that lies in
 *            the file as long as it is now.
 * position   [out] the new position; may be NULL.
 * Returns    TW_OK, TW_ERR_INVALID (file is NULL or not open; a position below 0 or above 2^63-1; the end in a view
 *            that is not in file order), TW_ERR_IO.
 * Since      0.2. */
TW_API_STATUS tw_status tw_file_seek_view(tw_file* file, int64_t offset, int whence, int64_t* position);

/* Gives the offset in the file of a byte of this task's view.
 * Call:      independent.
 * Blocking:  no.
 * position   [in]  of the byte in the view, >= 0.
 * offset     [out] of the byte in the file.
 * Returns    TW_OK, TW_ERR_INVALID (file is NULL or not open, offset is NULL, position is negative), TW_ERR_RANGE (the
 *            view has fewer bytes below 2^63).
 * Since      0.2. */
TW_API_STATUS tw_status tw_file_view_offset(tw_file* file, int64_t position, int64_t* offset);

/* Gives the length of the file as it is now. Unlike tw_file_size() it waits for no task: writes of other tasks that are
 * under way, and requests that are outstanding, may or may not be part of it.
 * Call:      independent.
 * Blocking:  no.
 * nbytes     [out] bytes, also of a file whose name was removed.
 * Returns    TW_OK, TW_ERR_INVALID (file is NULL or not open, nbytes is NULL), TW_ERR_IO.
 * Since      0.2. */
TW_API_STATUS tw_status tw_file_end(const tw_file* file, int64_t* nbytes);

/* Tells whether each task may as well make its collective accesses of this file alone, by tw_file_access() or
 * tw_file_iaccess(), which send no message: they would move the same bytes in the same calls. Failures of other tasks
 * are not reported then, and no call waits for another task. That is so where the tasks and the storage are of one
 * node, no task has a view other than an offset, and no hint names a method, workers or aggregators; and always with
 * the hint method=direct, but for direct I/O. The answer is equal on all tasks, and changes with tw_file_set_view()
 * only.
 * Call:      independent.
 * Blocking:  no.
 * alone      [out] 1 or 0.
 * Returns    TW_OK, TW_ERR_INVALID (file is NULL or not open, alone is NULL).
 * Since      0.2. */
TW_API_STATUS tw_status tw_file_goes_alone(const tw_file* file, int32_t* alone);

/* ---- One block of memory -----------------------------------------------------------------------------------------
 * Call:      ..._all: collective, each task with its own arguments; a task without data passes nbytes 0. Else
 *            independent.
 * Blocking:  tw_file_i...: no, as tw_file_iaccess_all(); they return a request. Else yes.
 * data       [in] or [out] nbytes bytes; NULL only with nbytes 0. Borrowed: until the call returns, or until the
 *            request is complete.
 * offset     [in]  >= 0; bytes of the view of the task, which are those of the file if none was set.
 * nread      [out] bytes read for this task, 0 on failure; may be NULL. They are the bytes that lie in the file below
 *            its end, so that they are fewer than asked for only where the file ends, and the first nread of `data`
 *            unless a view is not in file order. The rest of `data` is undefined. Requests tell it when they are found
 *            complete.
 * request    [out] set only on success; freed by the call of request.h that finds it complete.
 * Returns    as tw_file_access_all(), tw_file_iaccess_all(), tw_file_access() and tw_file_iaccess() (below).
 * Since      0.2.
 *
 * Without a suffix for the place, all tasks write and read one behind the other from the shared position, in rank
 * order. It then moves by the sum of the bytes asked for, also when a transfer fails or a read meets the end of the
 * file, but not when the arguments of any task are wrong. With _at each task passes its offset. With _view each task
 * continues at the position in its view: that moves at the call by nbytes, also when the access fails later or a read
 * meets the end of the file, but not when this task's own arguments are wrong. */
TW_API_STATUS tw_status tw_file_write_all(tw_file* file, const void* data, size_t nbytes);
TW_API_STATUS tw_status tw_file_read_all(tw_file* file, void* data, size_t nbytes, size_t* nread);
TW_API_STATUS tw_status tw_file_write_at_all(tw_file* file, const void* data, size_t nbytes, int64_t offset);
TW_API_STATUS tw_status tw_file_read_at_all(tw_file* file, void* data, size_t nbytes, int64_t offset, size_t* nread);
TW_API_STATUS tw_status tw_file_write_view_all(tw_file* file, const void* data, size_t nbytes);
TW_API_STATUS tw_status tw_file_read_view_all(tw_file* file, void* data, size_t nbytes, size_t* nread);

TW_API_STATUS tw_status tw_file_write_at(tw_file* file, const void* data, size_t nbytes, int64_t offset);
TW_API_STATUS tw_status tw_file_read_at(tw_file* file, void* data, size_t nbytes, int64_t offset, size_t* nread);
TW_API_STATUS tw_status tw_file_write_view(tw_file* file, const void* data, size_t nbytes);
TW_API_STATUS tw_status tw_file_read_view(tw_file* file, void* data, size_t nbytes, size_t* nread);

TW_API_STATUS tw_status tw_file_iwrite_all(tw_file* file, const void* data, size_t nbytes, tw_request** request);
TW_API_STATUS tw_status tw_file_iread_all(tw_file* file, void* data, size_t nbytes, tw_request** request);
TW_API_STATUS tw_status tw_file_iwrite_at_all(tw_file* file, const void* data, size_t nbytes, int64_t offset,
                                              tw_request** request);
TW_API_STATUS tw_status tw_file_iread_at_all(tw_file* file, void* data, size_t nbytes, int64_t offset,
                                             tw_request** request);
TW_API_STATUS tw_status tw_file_iwrite_view_all(tw_file* file, const void* data, size_t nbytes, tw_request** request);
TW_API_STATUS tw_status tw_file_iread_view_all(tw_file* file, void* data, size_t nbytes, tw_request** request);

TW_API_STATUS tw_status tw_file_iwrite_at(tw_file* file, const void* data, size_t nbytes, int64_t offset,
                                          tw_request** request);
TW_API_STATUS tw_status tw_file_iread_at(tw_file* file, void* data, size_t nbytes, int64_t offset,
                                         tw_request** request);
TW_API_STATUS tw_status tw_file_iwrite_view(tw_file* file, const void* data, size_t nbytes, tw_request** request);
TW_API_STATUS tw_status tw_file_iread_view(tw_file* file, void* data, size_t nbytes, tw_request** request);

/* ---- One part of an array -----------------------------------------------------------------------------------------
 * The file has an array of items from `offset` on, without gaps; each task moves its part, a block of indices:
 *
 *     // rows first .. first+rows-1 of a field of ny x nx doubles; the local memory has a halo of one item on each side
 *     const tw_dim dims[2] = {{ny, first, rows, 1, 1}, {nx, 0, nx, 1, 1}};
 *     tw_file_write_array(file, memory, sizeof(double), 2, dims, TW_ROW_MAJOR, 0);
 *
 * Parts may differ in size and shape, may be empty, and need not cover the array: what no part covers is left as it is,
 * and the file is not made longer than the last byte that is written. Parts that are read may overlap, so that a task
 * can read its halo too (start - 1, count + 2, no halo). Where parts that are written overlap, each byte is from one of
 * the tasks. The view of the handle and the shared position play no part. Each task passes its own description, and it
 * alone says where its bytes lie: item_bytes, the global numbers, order and offset are normally equal on all tasks, but
 * this is not compared. */

/* One dimension of an array in the file, of the part of this task, and of its local memory. */
typedef struct tw_dim {
  int64_t global;      /* number of indices of the array in the file */
  int64_t start;       /* first index of the part */
  int64_t count;       /* number of indices of the part; 0 in any dimension: the task makes the call without items */
  int64_t halo_before; /* number of indices of the local memory before the part, which are not moved */
  int64_t halo_after;  /* number of indices of the local memory behind the part, which are not moved */
} tw_dim;

/* Call:       collective, each task with its own arguments.
 * Blocking:   tw_file_iwrite_array(), tw_file_iread_array(): no, as tw_file_iaccess_all(); they return a request. Else
 *             yes.
 * data        [in] or [out] local memory of (halo_before + count + halo_after) items in each dimension, in `order`;
 *             NULL only without items. Borrowed: until the call returns, or until the request is complete.
 * item_bytes  [in]  bytes of one item, >= 1.
 * n_dims      [in]  dimensions, 1 .. 1024.
 * dims        [in]  n_dims of them; copied. TW_ROW_MAJOR: from the slowest to the fastest index. TW_COLUMN_MAJOR: from
 *             the fastest to the slowest, so that dims[0] is the fastest. All numbers are >= 0, and start + count is at
 *             most global.
 * order       [in]  of the array in the file and of the local memory: TW_ROW_MAJOR (C) or TW_COLUMN_MAJOR (Fortran).
 * offset      [in]  of the first item of the array in the file, >= 0.
 * nread       [out] bytes read for this task, 0 on failure: those of its part that lie in the file below its end; may
 *             be NULL. The rest of the part in `data` is undefined.
 * request     [out] as for one block of memory, above.
 * Returns     as tw_file_access_all() and tw_file_iaccess_all() (below). On all tasks TW_ERR_INVALID (a value that is
 *             not as above; the message names the dimension and the value), TW_ERR_RANGE (an array, or a local memory,
 *             of 2^63 bytes or more).
 * Memory      24 bytes for each piece that lies together in the file and in the local memory: one where both lie
 *             together.
 * Since       0.2. */
TW_API_STATUS tw_status tw_file_write_array(tw_file* file, const void* data, size_t item_bytes, int32_t n_dims,
                                            const tw_dim* dims, tw_array_order order, int64_t offset);
TW_API_STATUS tw_status tw_file_read_array(tw_file* file, void* data, size_t item_bytes, int32_t n_dims,
                                           const tw_dim* dims, tw_array_order order, int64_t offset, size_t* nread);
TW_API_STATUS tw_status tw_file_iwrite_array(tw_file* file, const void* data, size_t item_bytes, int32_t n_dims,
                                             const tw_dim* dims, tw_array_order order, int64_t offset,
                                             tw_request** request);
TW_API_STATUS tw_status tw_file_iread_array(tw_file* file, void* data, size_t item_bytes, int32_t n_dims,
                                            const tw_dim* dims, tw_array_order order, int64_t offset,
                                            tw_request** request);

/* ---- Any access ---------------------------------------------------------------------------------------------------
 * All accesses above are made of these four calls, which also take lists of extents, common arguments, and other
 * groups:
 *
 *     tw_extent pieces[2] = {{a, 1000, 0}, {b, 500, 8000}};
 *     tw_access access = {.struct_size = sizeof access, .direction = TW_ACCESS_WRITE, .extents = pieces, .n = 2};
 *     tw_file_access_all(file, NULL, &access, NULL);
 *
 * Memory that lies in many pieces may be given as a view, too: see `memory` of tw_access. */

/* Bytes of memory and where in the file they belong. */
typedef struct tw_extent {
  void* address;  /* may be NULL when length is 0 */
  int64_t length; /* bytes, >= 0 */
  int64_t offset; /* bytes from the start of the file, or ignored: see tw_placement */
} tw_extent;

typedef int32_t tw_direction;
enum { TW_ACCESS_READ = 0, TW_ACCESS_WRITE = 1 };

typedef int32_t tw_placement;
enum {
  TW_AT_EXTENTS = 0, /* each extent at its own offset, in any order */
  TW_AT_OFFSET = 1,  /* one extent behind the other from `offset` of the access; their own offsets are ignored */
  TW_IN_ORDER = 2,   /* one behind the other from the shared position, task after task in rank order */
  TW_IN_VIEW = 3     /* one behind the other from this task's position in its view: see tw_file_set_view() */
};

typedef int32_t tw_progress;
enum {
  TW_PROGRESS_DEFAULT = 0, /* environment variable THALWEG_PROGRESS=thread|poll, else thread */
  TW_PROGRESS_THREAD = 1,  /* the one progress thread of the process advances it. It sleeps while nothing is
                              outstanding, and runs where the thread ran that started the first such request, or on
                              the core that the environment variable THALWEG_PROGRESS_CORE names */
  TW_PROGRESS_POLL = 2     /* calls of the library advance it. Transfers that were submitted continue by themselves
                              all the same, carried out by io_uring or by a thread that does nothing else */
};

/* One task's part of an access. Zero-initialise, then set struct_size. */
typedef struct tw_access {
  size_t struct_size;
  tw_direction direction;
  tw_placement placement;
  int32_t common;           /* not 0: every task passes the same arguments, in memory that the tasks of a process share.
                               A read moves the bytes once per process; a write moves them once, from the memory of
                               task 0 of the group. The shared position moves by them once */
  tw_progress progress;     /* of a nonblocking access */
  const tw_extent* extents; /* n of them; borrowed until the access is complete */
  int64_t n;
  int64_t offset; /* for TW_AT_OFFSET: bytes of the view of `file`, which are those of the file if none was set */
  /* A failure that the caller found already: all tasks return it, and no bytes are moved. TW_OK: none. */
  tw_status status;
  int32_t os_errno;
  const char* message; /* copied */
  /* NULL: all bytes of the extents are moved. Else n is 1, extents[0].address is where a view of memory begins, not
   * NULL, and extents[0].length is tw_view_size(memory): the bytes of that view are moved, in its order. View and
   * extent may be freed as soon as the call has returned. The view takes 24 bytes of memory for each piece that lies
   * together in memory and in the file, and nothing where it is one run. A view that has a byte twice writes it to both
   * places; a read sets that byte to either of the two. A view of 0 bytes may come with n 0 */
  const tw_view* memory;
} tw_access;

/* Moves bytes for a group.
 * Call:      collective over `group`.
 * Blocking:  yes.
 * file       [in]  any handle of the open file in this process. NULL: this task has none, which fails on all tasks.
 * group      [in]  NULL: the group of `file`. Else another group, all of whose tasks are in this process: say the
 *            threads of a parallel region that use a file opened outside of it. Not both NULL. Tasks that are in
 *            several groups make their TW_IN_ORDER accesses to one file in the same order. TW_IN_VIEW needs the group
 *            of the file.
 * access     [in]  borrowed during the call, the extents too.
 * moved      [out] bytes moved for this task, 0 on failure; may be NULL. A read moves those whose offset is below the
 *            end of the file, whatever their order in the list; the memory of the others is undefined. A write moves
 *            all.
 * Returns    TW_OK, or on all tasks TW_ERR_INVALID (negative lengths or offsets, NULL, extents that contradict `memory`
 *            of the access, arguments of a common access that differ, different files, different calls), TW_ERR_RANGE
 *            (beyond 2^63-1), TW_ERR_MODE (not opened for it), TW_ERR_IO, TW_ERR_NO_SPACE, TW_ERR_NO_MEMORY,
 *            TW_ERR_NOT_CLOSED (a task has abandoned the file). On this task alone TW_ERR_INVALID (file is not open;
 *            file and group are NULL).
 * Since      0.2. */
TW_API_STATUS tw_status tw_file_access_all(tw_file* file, tw_group* group, const tw_access* access, size_t* moved);

/* Starts to move bytes for a group.
 * Call:      collective over `group`.
 * Blocking:  no; only on a group of tw_group_callbacks() the access is carried out in the call, as if it were blocking.
 * access     [in]  may go after the call; its extents and their memory stay until the request is complete, and so does
 *            a `group` that is given, which must not be used for anything else meanwhile.
 * request    [out] set only on success; freed by the call of request.h that finds it complete.
 * Returns    TW_OK, or on this task at once TW_ERR_INVALID (request is NULL), TW_ERR_NO_MEMORY, which the others find
 *            in their requests. On this task alone TW_ERR_INVALID (file is not open; file and group are NULL), and the
 *            requests of the others wait for it. Every other failure is that of the request, on all tasks.
 * Since      0.2. */
TW_API_STATUS tw_status tw_file_iaccess_all(tw_file* file, tw_group* group, const tw_access* access,
                                            tw_request** request);

/* Moves bytes, or starts to move them, for this task alone. The placement is not TW_IN_ORDER.
 * Call:      independent.
 * Blocking:  tw_file_access(): yes. tw_file_iaccess(): no.
 * Returns    tw_file_access(): as tw_file_access_all(), on this task alone, and TW_ERR_INVALID for TW_IN_ORDER.
 *            tw_file_iaccess() returns only TW_ERR_INVALID (file or request is NULL, or the file is not open) or
 *            TW_ERR_NO_MEMORY; every other failure is that of the request.
 * Since      0.2. */
TW_API_STATUS tw_status tw_file_access(tw_file* file, const tw_access* access, size_t* moved);
TW_API_STATUS tw_status tw_file_iaccess(tw_file* file, const tw_access* access, tw_request** request);

/* ---- How accesses are carried out ---------------------------------------------------------------------------------
 * */

/* Gives what advances a nonblocking access that this task starts with `asked` as its progress: TW_PROGRESS_THREAD or
 * TW_PROGRESS_POLL. It is POLL in place of THREAD where a thread cannot be had, and for collectives of two kinds of
 * group: of ranks where MPI was initialised for less than MPI_THREAD_MULTIPLE, which advance within calls of threads
 * that make calls on such groups (see tw_mpi_take_turns() in group_mpi.h); and of callbacks, which are carried out in
 * the call that starts them. The progress thread is started if it would be needed.
 * Call:      independent; tasks of one group may get different answers.
 * Blocking:  no.
 * Threads:   any.
 * file       [in]  of collective accesses of its group; NULL: of accesses of a task alone or of threads.
 * effective  [out] set only on success.
 * Returns    TW_OK, TW_ERR_INVALID (effective is NULL, asked is none of DEFAULT, THREAD, POLL).
 * Since      0.2. */
TW_API_STATUS tw_status tw_file_progress(const tw_file* file, tw_progress asked, tw_progress* effective);

/* Describes how the last blocking collective access of this handle was carried out and why, in one line; "" before the
 * first and for NULL. The text is valid until the next call on the handle.
 * Call:      independent.
 * Blocking:  no.
 * Since      0.2. */
TW_API const char* tw_file_last_plan(const tw_file* file);

#ifdef __cplusplus
}
#endif
#endif
