/* The multifile: each task writes and reads its own logical file; N logical files live in few physical files.
 * C11 and C++; includes neither mpi.h nor omp.h.
 *
 *     tw_multifile *mf;
 *     tw_multifile_open(group, "dump.tw", TW_CREATE, NULL, &mf);   // collective
 *     tw_multifile_write(mf, data, bytes);                         // independent, any number of times
 *     tw_multifile_close(&mf);                                     // collective
 *
 * Words: a *task* is a member of a group; a *logical file* is what one task writes, numbered by a *rank*
 * 0..N-1; a *physical file* is a file of the file system: NAME for the first, NAME.000001, NAME.000002, ... A
 * *chunk* is a piece of a physical file that holds bytes of one logical file; a *pack* holds small or
 * compressed pieces of several. Offsets and sizes are bytes. Format: docs/format/multifile.md.
 *
 * Logical files are numbered by rank when the multifile is made. Any task can add more at any time, each by a name
 * (tw_multifile_add); these get their ranks when it is closed.
 *
 * A handle belongs to one task. It serves one logical file or many; one of them is *current*, and the plain
 * calls (tw_multifile_write, tw_multifile_read, tw_multifile_seek, ...) act on it. Handles of different tasks are
 * independent, also when they share physical files.
 *
 * Unless a call says otherwise:
 *   Call       independent: it communicates with nobody, and other tasks need not make it. Only tw_multifile_open() and
 *              tw_multifile_close() are collective: a call that fails on one task fails on all; a task that skips one,
 *              or makes another one, keeps the others waiting. Threads of a team get an error instead (group.h).
 *   Blocking   it returns when its work is done; that may take the storage its time. Tasks of one process that write
 *              into one physical file take turns while space is given out. Nothing else waits for another task.
 *   Threads    one call at a time per handle; calls without an object: any number at once.
 *              Callbacks are called on the thread of the call, before it returns, and may not use its object.
 *   Ownership  what is passed in stays the caller's and may change or go when the call returns. Text that is handed out
 *              belongs to the handle and is good until it is closed.
 *   Results    an [out] pointer is set on success only, and may not be NULL.
 *   Errors     TW_OK, or TW_ERR_INVALID: an argument is NULL or out of range. A call that only a handle open for
 *              writing, or only one open for reading, can make returns TW_ERR_MODE on the other; so does one that acts
 *              on the current logical file when the handle serves none. What reads may return TW_ERR_IO,
 *              TW_ERR_CORRUPT, TW_ERR_NO_MEMORY; what writes TW_ERR_IO, TW_ERR_NO_SPACE, TW_ERR_RANGE,
 *              TW_ERR_NO_MEMORY. The first use of a logical file after TW_APPEND reads, too. tw_last_error() says it
 *              in words.
 *   Since      0.2.
 *
 * Durability: bytes written before a successful tw_multifile_flush() survive the death of the process; before a
 * successful tw_multifile_sync() the death of the machine; tw_multifile_iflush() and tw_multifile_isync() promise the
 * same once their request has succeeded. After any of them, tw_multifile_repair() (command: `thalweg repair`) brings
 * every such byte back and invents nothing; tw_multifile_sync() says what this rests on. Design:
 * docs/design/multifile.md.
 *
 * Replacement: TW_TRUNCATE over a multifile that others have open for reading writes into its files. Such a handle
 * gives out bytes that it has in memory and bytes of the old multifile, or fails with TW_ERR_CORRUPT ("was replaced");
 * it never gives out bytes of the new one, with or without checksums. On a file system whose caches are not coherent
 * between machines (NFS) this needs the hints checksum=crc32c and verify=on. */
#ifndef THALWEG_MULTIFILE_H
#define THALWEG_MULTIFILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "export.h"
#include "group.h"
#include "health.h"
#include "open.h"
#include "request.h"
#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tw_multifile tw_multifile; /* an open multifile; freed by tw_multifile_close() */

/* ---- Open and close ---------------------------------------------------------------------------------------- */

/* Opens a multifile. open.h says what the arguments have in common with the other opens.
 * Call:      collective over `group`; all tasks give the same path, flags and n_logical.
 * Blocking:  until all tasks have called and the files are there.
 * Threads:   one call at a time per group.
 * path       [in]  name of the first physical file.
 * flags      [in]  TW_READ, optionally with TW_RECOVER: an existing multifile, for reading. TW_RECOVER opens one that
 *                  was not closed and reads what is whole; the file is not changed, and every task scans it.
 *                  TW_CREATE: a new one, for writing; with TW_TRUNCATE it replaces an existing one. TW_ERR_UNSAFE, and
 *                  nothing is touched, when a program is writing it, when it looks like another format (a vpfile, HDF5,
 *                  NetCDF, SIONlib; hint overwrite_foreign) or when NAME.000001, ... is no part of one.
 *                  TW_APPEND: an existing, closed one, for writing at the end of each logical file; with TW_CREATE
 *                  also a new one where there is none.
 * options    [in]  hints, ranks or range, mapping, progress.
 * multifile  [out] the handle, or NULL on failure.
 * Returns    TW_OK on all tasks or the same failure on all: TW_ERR_INVALID, TW_ERR_UNKNOWN_HINT, TW_ERR_NOT_FOUND,
 *            TW_ERR_EXISTS, TW_ERR_PERMISSION, TW_ERR_NO_SPACE, TW_ERR_IO, TW_ERR_NO_MEMORY, TW_ERR_CORRUPT,
 *            TW_ERR_VERSION, TW_ERR_NOT_CLOSED (the message names the repair command), TW_ERR_UNSAFE (another program
 *            writes it, or for writing it is a file of another format). After a failed TW_CREATE no physical file made
 *            by this call is left behind, and what was there is as it was, unless replacing it was what failed.
 * Source:    the idea of task-local files in one: Frings, Wolf, Petkov, SC'09. */
TW_API_STATUS tw_status tw_multifile_open(tw_group* group, const char* path, int32_t flags, const tw_options* options,
                                          tw_multifile** multifile);

/* Writes what is buffered, then the index, frees the handle (also on failure) and sets *multifile to NULL.
 * Call:     collective over the group of the open.
 * Blocking: what was written waits for all tasks, and for the flushes and syncs that were started. The close of a
 *           multifile that was read does not wait for the others: agree before one of them removes the files.
 * Returns the same status on all tasks: TW_OK, or the first failure met by any task, including that of an earlier
 * write, flush or sync of this multifile. TW_ERR_UNSAFE: another file has the name of a physical file by now; it is
 * left alone. TW_ERR_NOT_CLOSED: a task has abandoned it. TW_ERR_INVALID: NULL, the address of NULL, or a handle that
 * is not open.
 *
 * After a failure the multifile stays marked as not closed, and tw_multifile_repair() brings back everything flushed.
 * With the hint duplicates=error the names are compared when it is closed: TW_ERR_EXISTS says that two logical files
 * have one name, and both are there. A multifile that a program leaves open is flushed when the program ends by exit()
 * or a return from main(), and when MPI is finalised, unless a thread is inside of it; a line on standard error names
 * the file, which stays not closed. In the child of a fork a handle that writes fails with TW_ERR_MODE, here too. */
TW_API_STATUS tw_status tw_multifile_close(tw_multifile** multifile);

/* Gives the multifile up instead of closing it, for a task that cannot go on: after a failure of its own, or while an
 * exception unwinds. Flushes what this task has written, FILE* of tw_multifile_fopen() too, frees the handle and sets
 * *multifile to NULL; the multifile stays marked as not closed. The other tasks keep their handles and can write on;
 * their tw_multifile_close() flushes what they have, and fails on all of them with TW_ERR_NOT_CLOSED, or with the
 * failure of that flush. tw_multifile_repair() brings back everything flushed. A multifile that was read is closed.
 * Call:     independent.
 * Blocking: for storage; the call waits for no other task, whether the others are in their close, elsewhere, or gone.
 *           On a group of tw_group_callbacks() the close of the others notices it only where it has start_largest.
 * Returns TW_OK, or the failure of flushing or of a sync that was started, and the handle is freed all the same;
 * TW_ERR_INVALID: it is not open, or MPI has ended; TW_ERR_MODE: in the child of a fork. */
TW_API_STATUS tw_status tw_multifile_abandon(tw_multifile** multifile);

/* ---- Position ---------------------------------------------------------------------------------------------- */

/* Makes logical file `rank` current and sets its position. Each logical file keeps its own position.
 * rank       one that this handle serves.
 * position   bytes from the start of the logical file, >= 0; -1 keeps that file's own position (0 at first; the end
 *            after TW_APPEND). Beyond the end is allowed when writing: the gap reads as zeros.
 * Stores nothing.
 * Returns TW_OK, TW_ERR_INVALID, TW_ERR_NOT_FOUND (rank not served here), or what the first use of a logical file may
 * return. */
TW_API_STATUS tw_status tw_multifile_seek_to(tw_multifile* multifile, int64_t rank, int64_t position);

/* As fseek on the current logical file: `offset` bytes from its start, position or end (whence SEEK_SET, SEEK_CUR,
 * SEEK_END). Beyond the end is allowed. Stores nothing.
 * Returns TW_OK, TW_ERR_INVALID (also: the sum is negative or above 2^63-1), TW_ERR_MODE. */
TW_API_STATUS tw_status tw_multifile_seek(tw_multifile* multifile, int64_t offset, int whence);

/* Position in the current logical file, bytes from its start, and its rank; both -1 when the handle serves none.
 * position, rank [out] either may be NULL.
 * Returns TW_OK, TW_ERR_INVALID, TW_ERR_MODE (a position is asked for, and the handle serves no logical file). */
TW_API_STATUS tw_status tw_multifile_tell(tw_multifile* multifile, int64_t* position, int64_t* rank);

/* Bytes, from the position. Reading: those to the end of the piece (or of the gap) at hand, and to the end of the
 * logical file; 0 beyond it. Writing: those that still fit the open chunk, 0 when none is open (more can be written all
 * the same), and INT64_MAX. Either pointer may be NULL.
 * Returns TW_OK, TW_ERR_INVALID, TW_ERR_MODE.
 * Source:   the calls bytes_avail_in_block and bytes_avail_in_chunk of task-local I/O. The end is reached when *in_file
 *           is 0. */
TW_API_STATUS tw_status tw_multifile_available(tw_multifile* multifile, int64_t* in_chunk, int64_t* in_file);

/* ---- Write ------------------------------------------------------------------------------------------------- */

/* Writes all of nbytes bytes at the position and advances it. Calls above 4 GiB are fine; 0 bytes do nothing.
 * Blocking: returns when `data` may be changed; bytes may still be in the handle's buffer. Small records are gathered
 * in a buffer per logical file (hint buffer_bytes; 0 turns it off), large ones bypass it. A handle that serves more
 * than 16 logical files keeps at most 16 MiB of buffers, and packs of 1 MiB.
 * Returns TW_OK, TW_ERR_INVALID, TW_ERR_MODE, TW_ERR_RANGE (the end would be beyond 2^63-1; nothing was written),
 * TW_ERR_NO_SPACE, TW_ERR_IO, TW_ERR_NO_MEMORY. A failure may come late, from bytes of an earlier call; it then also
 * makes tw_multifile_close() fail. After TW_ERR_NO_MEMORY nothing more can be written with this handle. */
TW_API_STATUS tw_status tw_multifile_write(tw_multifile* multifile, const void* data, size_t nbytes);

/* As tw_multifile_write() at `offset` (bytes from the start, >= 0) of the current logical file; the position stays,
 * also when the call fails. What is already there is hidden, not overwritten: the old bytes take space until
 * `thalweg defrag`. */
TW_API_STATUS tw_status tw_multifile_write_at(tw_multifile* multifile, const void* data, size_t nbytes, int64_t offset);

/* After this, every byte written through this handle so far, to any of its logical files, survives the death of the
 * process, but not always that of the node or of the daemon of a mount (docs/reference/visibility.md, Failures).
 * Blocking: until the kernel has the bytes. Other handles flush for themselves. After a failure it may be repeated, but
 *           tw_multifile_close() fails all the same.
 * Returns TW_OK, TW_ERR_INVALID, TW_ERR_MODE, or what a write may return. */
TW_API_STATUS tw_status tw_multifile_flush(tw_multifile* multifile);

/* After this, every byte written through this handle so far, to any of its logical files, survives the death of the
 * machine. Includes a flush. A failed sync cannot be repeated with success.
 * Blocking: until the storage has the bytes of all physical files that this process writes, one after the other.
 * Returns TW_OK, TW_ERR_INVALID, TW_ERR_MODE, or what a write may return.
 *
 * Bytes written after the last successful sync may be lost with the machine, in any part: a recovery then shows what
 * the sync had stored, and of later writes only those whose bytes are proven to have arrived, by their checksum or,
 * with the hint checksum=none, by an arrival seal of each sector of 512 bytes. No byte that never reached the storage
 * is given out as data. This rests on two properties of the storage: a sector of 512 bytes is written whole or not at
 * all, and a successful fsync(2) means that the data are there.
 *
 * A close syncs when something was synced before, when an append overwrote older bytes, or with the hint sync_on_close.
 * Without that, a closed multifile survives the death of the machine only when the system has written it out: where its
 * index arrived and its data did not, they are refused, or, with the hint checksum=none, read as zeros. Data that were
 * closed before an append and had reached the storage stay as they were, whatever the append does. */
TW_API_STATUS tw_status tw_multifile_sync(tw_multifile* multifile);

/* Starts a tw_multifile_sync(): the request is complete when every byte written through this handle before the call
 * survives the death of the machine. The program may go on, also with any call of this handle; what it writes meanwhile
 * belongs to a later flush or sync.
 * Blocking: with buffered writes until the kernel has the bytes, as tw_multifile_flush(). With direct writes (hint io)
 *           until all are on their way and those of the request before are complete. A thread of the library waits for
 *           the rest, also with THALWEG_PROGRESS=poll: for one flush or sync after the other, of all multifiles of the
 *           process. tw_multifile_flush(), _sync(), _close() and _abandon() wait until all direct writes of this handle
 *           are complete.
 * request   [out] set only on success; freed by the call of request.h that finds it complete; moved is 0 there.
 * Returns TW_OK, TW_ERR_INVALID, TW_ERR_MODE, or what a write may return. The request fails where the sync does. Then
 * the close fails, too, and after a failed fsync(2) or direct write so does every later flush and sync.
 *
 * Bytes that are appended to a logical file while its sync goes on begin a new chunk, and what is left of the old one
 * stays a hole. The new chunk has room for twice the bytes that the old one got, and for 64 KiB at least, so that
 * frequent syncs leave small holes. */
TW_API_STATUS tw_status tw_multifile_isync(tw_multifile* multifile, tw_request** request);

/* Starts a tw_multifile_flush() in the same way: the request is complete when the bytes survive the death of the
 * process. With buffered writes the flush is done when the call returns, and the request completes shortly after. */
TW_API_STATUS tw_status tw_multifile_iflush(tw_multifile* multifile, tw_request** request);

/* ---- Read -------------------------------------------------------------------------------------------------- */

/* Reads up to nbytes bytes at the position and advances it; *nread (may be NULL; set on failure, too) is how many:
 * fewer than asked only at the end of the logical file, 0 at or beyond it. Checksums are verified before bytes are
 * given out (hint verify).
 * Returns TW_OK, TW_ERR_INVALID, TW_ERR_MODE, TW_ERR_IO, TW_ERR_NO_MEMORY, TW_ERR_CORRUPT (what was read before the
 * damaged part is in *nread). */
TW_API_STATUS tw_status tw_multifile_read(tw_multifile* multifile, void* data, size_t nbytes, size_t* nread);

/* As tw_multifile_read() at `offset` (bytes from the start, >= 0) of the current logical file; the position stays. */
TW_API_STATUS tw_status tw_multifile_read_at(tw_multifile* multifile, void* data, size_t nbytes, int64_t offset,
                                             size_t* nread);

/* Moves the position of the current logical file behind the gap that it stands in: to the next byte that was written,
 * or to the end. *skipped is their number, and all are zeros; 0 where there is no gap. Gaps may
 * be as long as 2^63-1 bytes, whatever the size of the multifile. What a repair found lost is no gap. Reads nothing.
 * Returns TW_OK, TW_ERR_INVALID, TW_ERR_MODE (open for writing). Since 0.2. */
TW_API_STATUS tw_status tw_multifile_skip_gap(tw_multifile* multifile, int64_t* skipped);

/* ---- stdio ------------------------------------------------------------------------------------------------- */

/* A FILE* on logical file `rank` of this handle, for fprintf, fwrite, fread, fseek, ... across chunk borders. It has
 * the position of the logical file in the handle: both can be used in turns, and a call of the handle follows what
 * stdio holds in memory. So tw_multifile_flush() stores that too. fclose() it before tw_multifile_close(), which
 * flushes streams that are still open; from then on they fail with EBADF, and fclose() still frees them. Where two
 * FILE* are on one logical file, fflush() one before the other is used.
 * mode      "r" on a handle open for reading, "w" or "a" on one open for writing; nothing is cut off. "a" moves the
 *           position to the end, and each write of the FILE* goes there.
 * stream [out] the caller's, to be closed; NULL on failure. Its stdio buffer comes on top of those of the handle.
 * Threads:  calls on the FILE* count as calls on the handle. What failed in one is said by tw_last_error().
 * Returns TW_OK, TW_ERR_INVALID, TW_ERR_MODE, TW_ERR_NOT_FOUND (rank not served here), TW_ERR_NO_MEMORY, or what the
 * first use of a logical file may return.
 * Source:   fopencookie(3). */
TW_API_STATUS tw_status tw_multifile_fopen(tw_multifile* multifile, int64_t rank, const char* mode, FILE** stream);

/* ---- Names and attributes ---------------------------------------------------------------------------------- */

/* Makes a new, empty logical file of this name, which becomes the current one of the handle. Needs no message: any task
 * may add any number at any time, beside the logical files that it serves, also after TW_APPEND, and also where the
 * multifile was opened with n_logical 0. Its bytes lie in the physical file of the first rank that the task serves.
 * name          [in] 1 to 4096 bytes, any but NUL, '/' between directories; copied. It is as durable as the bytes of
 *               the logical file: one flush or sync makes both so.
 * permissions   a POSIX mode, type and permission bits as in st_mode; 0 when there is none.
 * Rank:         until the close the logical file has a number, which tw_multifile_tell() gives and which the calls of
 *               this handle take as a rank. The close gives the ranks behind those that there are: by session, then by
 *               task, then in the order of the calls.
 * One name:     several logical files may have it, and all are kept. tw_multifile_find() gives the last one, that of
 *               the highest rank. With the hint duplicates=error the close then returns TW_ERR_EXISTS on all tasks; the
 *               multifile is closed all the same and has them all.
 * Memory:       a handle needs about 2 MiB, however many names it adds: what the close needs of older ones is stored in
 *               the file. Where the program returns to an older one, the handle also keeps 350 bytes of it and of each
 *               of the about 5000 that were stored with it, until the close. During the close task 0 needs up to 64 KiB
 *               for each task, and 12 MiB to sort the names.
 * Returns TW_OK, TW_ERR_INVALID, TW_ERR_MODE, TW_ERR_NO_MEMORY, TW_ERR_RANGE (this task has added 2^32 in this
 * session, or all sessions have used up the 2^62 numbers: a session uses at most 2^32 for each of its tasks), or what a
 * write may return. */
TW_API_STATUS tw_status tw_multifile_add(tw_multifile* multifile, const char* name, uint32_t permissions);

/* As tw_multifile_add(), for one of several logical files that share a name, such as the blocks of a distributed
 * array, one of each task. Name and part together identify it, so parts of one name are no duplicates;
 * tw_multifile_find_part() finds it, tw_multifile_find() does not.
 * part   0 or more. */
TW_API_STATUS tw_status tw_multifile_add_part(tw_multifile* multifile, const char* name, int64_t part,
                                              uint32_t permissions);

/* Gives the current logical file a name (UTF-8 or any bytes but NUL, at most 4096; copied) and a POSIX mode, as
 * tw_multifile_add(), and takes the place of the one that it had. An empty name removes it; for a logical file that
 * was added it is TW_ERR_INVALID. Open for writing.
 * Returns TW_OK, TW_ERR_INVALID, TW_ERR_MODE, or what a write may return. */
TW_API_STATUS tw_status tw_multifile_set_name(tw_multifile* multifile, const char* name, uint32_t mode);

/* Name of logical file `rank`, any of the multifile, without its part; open for reading. At most `size` bytes with the
 * closing NUL go into `name`; *length is its length without NUL (0: no name). `name` may be NULL when size is 0; either
 * out pointer may be NULL.
 * Returns TW_OK, TW_ERR_INVALID, TW_ERR_MODE, TW_ERR_NOT_FOUND (no such rank), or what a read may return. */
TW_API_STATUS tw_status tw_multifile_name(tw_multifile* multifile, int64_t rank, char* name, size_t size,
                                          size_t* length, uint32_t* mode);

/* Highest rank of a logical file of that name, which is the one added last; open for reading. Reads a few pages of the
 * index, for any number of logical files; after TW_RECOVER all names.
 * Returns TW_OK, TW_ERR_INVALID, TW_ERR_MODE, TW_ERR_NOT_FOUND (there is none), or what a read may return. */
TW_API_STATUS tw_status tw_multifile_find(tw_multifile* multifile, const char* name, int64_t* rank);

/* As tw_multifile_find(), of the logical file that was added with this name and this part. */
TW_API_STATUS tw_status tw_multifile_find_part(tw_multifile* multifile, const char* name, int64_t part, int64_t* rank);

/* The part of logical file `rank`, as it was added; -1 where it has none. Open for reading.
 * Returns as tw_multifile_name(). */
TW_API_STATUS tw_status tw_multifile_part(tw_multifile* multifile, int64_t rank, int64_t* part);

/* Sets a key/value pair on the multifile; open for writing. Both are copied. Keys are 1 to 255 bytes, values at most 1
 * MiB; `value` may be NULL when bytes is 0. Written at close. When several tasks set one key the lowest rank wins.
 * "creator", "created" and "thalweg.strategy" (the strategy of the last session) are set by the library unless the user
 * sets them.
 * Returns TW_OK, TW_ERR_INVALID, TW_ERR_MODE, TW_ERR_NO_MEMORY. */
TW_API_STATUS tw_status tw_multifile_set_attribute(tw_multifile* multifile, const char* key, const void* value,
                                                   size_t bytes);

/* Value of a key: of the multifile when open for reading, of those set through this handle when open for writing.
 * value, bytes [out] borrowed until the handle is closed or the key is set again; not NUL-terminated by promise.
 * Returns TW_OK, TW_ERR_INVALID, TW_ERR_NOT_FOUND (there is none), or what a read may return. */
TW_API_STATUS tw_status tw_multifile_attribute(tw_multifile* multifile, const char* key, const void** value,
                                               size_t* bytes);

/* The i-th key in order of keys, of the same pairs. Borrowed until the handle is closed.
 * Returns TW_OK, TW_ERR_INVALID, TW_ERR_NOT_FOUND (i is past the last), or what a read may return. */
TW_API_STATUS tw_status tw_multifile_attribute_key(tw_multifile* multifile, int64_t i, const char** key);

/* ---- What is it? ------------------------------------------------------------------------------------------- */

enum { TW_CHECKSUM_NONE = 0, TW_CHECKSUM_CRC32C = 1 };
enum { TW_CODEC_NONE = 0, TW_CODEC_LZ4 = 1, TW_CODEC_ZSTD = 2 };

/* Set struct_size = sizeof before the call; fields may be added at the end. */
typedef struct tw_multifile_summary {
  size_t struct_size;
  int64_t n_logical;                    /* while it is written: without those that other tasks add */
  int32_t n_physical;                   /* that exist; while it is written: those made when it was opened */
  int32_t version_major, version_minor; /* of the format */
  int32_t checksum;                     /* TW_CHECKSUM_* */
  int64_t alignment_bytes;              /* data of a chunk starts on a multiple of this */
  int64_t granule_bytes;                /* bytes under one checksum */
  int64_t sessions;                     /* 1 after creating, one more per append */
  int32_t closed;                       /* 1 closed, 0 not */
  int32_t recovered;                    /* 1: opened with TW_RECOVER by scanning */
  char uuid[40];                        /* of the set of physical files, as text */
  /* What is in force and why, one line: "2 physical files (as asked for); buffered writes; alignment 4 KiB (block of
   * ext4); chunks of 8 MiB (as asked for); ...". A chunk is larger where one call writes more, or where a logical file
   * has many. For people: its words may change. Borrowed until the handle is closed. */
  const char* strategy;
  /* The physical files that there may be: NAME, NAME.000001, ... to NAME.%06d with n_planned - 1. Where the library
   * chose their number (hint physical_files=auto), all but the first are made when they are needed. Since 0.2. */
  int32_t n_planned;
} tw_multifile_summary;
/* Fills *summary, up to its struct_size. A multifile being written is not closed. Reads at most the part of the index
 * that names the physical files; where that cannot be read, n_physical is n_planned.
 * Returns TW_OK, TW_ERR_INVALID (NULL, or struct_size is not set). */
TW_API_STATUS tw_status tw_multifile_summarize(tw_multifile* multifile, tw_multifile_summary* summary);

/* How far the logical files from `rank` on are alike: *last is the highest rank such that nothing is stored of any of
 * them, so that all are empty and have neither name nor mode; or such that none of them can be read, for one reason,
 * which is what the call returns. Else *last is `rank`. Whoever goes through all ranks goes on at *last + 1: a file
 * holds entries for what is stored, and may claim any number of logical files beside them.
 * Open for reading. *last is set on every return but TW_ERR_INVALID and TW_ERR_MODE.
 * Returns TW_OK, TW_ERR_INVALID, TW_ERR_MODE, TW_ERR_NOT_FOUND (no such rank, or a physical file that is missing), or
 * what a read may return. Since 0.2. */
TW_API_STATUS tw_status tw_multifile_alike(tw_multifile* multifile, int64_t rank, int64_t* last);

/* Bytes of logical file `rank`, gaps and what is still in the buffer included. Reading: any rank of the multifile;
 * writing: one served here.
 * Returns TW_OK, TW_ERR_INVALID, TW_ERR_NOT_FOUND (another rank), or what a read may return. */
TW_API_STATUS tw_status tw_multifile_size(tw_multifile* multifile, int64_t rank, int64_t* bytes);

enum { TW_PIECE_CHUNK = 1, TW_PIECE_PACKED = 2 };
typedef struct tw_piece {
  int32_t kind;     /* TW_PIECE_* */
  int32_t codec;    /* TW_CODEC_* */
  int32_t physical; /* number of the physical file */
  int32_t reserved;
  int64_t physical_offset; /* of the first stored byte */
  int64_t stored_bytes;    /* bytes in the physical file */
  int64_t logical_offset;  /* where its content begins in the logical file */
  int64_t logical_bytes;   /* content; differs from stored_bytes when compressed */
} tw_piece;
/* Piece i of logical file `rank`, any of the multifile, in the order in which they were written (a later one hides what
 * it covers of earlier ones). Open for reading. The handle keeps the pieces of the logical file that was asked about
 * last: all pieces of one in a row cost O(their number).
 * Returns TW_OK, TW_ERR_INVALID, TW_ERR_MODE, TW_ERR_NOT_FOUND (no such rank, or i is past the last), or what a read
 * may return. */
TW_API_STATUS tw_status tw_multifile_piece(tw_multifile* multifile, int64_t rank, int64_t i, tw_piece* piece);

enum {
  TW_REGION_HEADER = 1, /* file or session header */
  TW_REGION_FRAME = 2,  /* frame, checksums and directory of a chunk or pack */
  TW_REGION_DATA = 3,   /* bytes of logical file `rank` */
  TW_REGION_TAIL = 4,   /* reserved in a chunk but unused */
  TW_REGION_HOLE = 5,   /* belongs to nobody */
  TW_REGION_INDEX = 6   /* end metadata */
};
typedef struct tw_region {
  int32_t kind;     /* TW_REGION_* */
  int32_t physical; /* number of the physical file */
  int64_t offset, bytes;
  int64_t rank; /* logical rank of TW_REGION_DATA, FRAME and TAIL of a chunk, else -1 */
} tw_region;
/* Called for each byte range, which is borrowed during the call; not 0 ends the walk. */
typedef int (*tw_region_fn)(const tw_region* region, void* user);
/* Walks the byte ranges of all physical files: by file, then by offset; without gap or overlap. Open for reading. Reads
 * all metadata, no data.
 * Returns TW_OK, also when `fn` ended the walk; TW_ERR_INVALID, TW_ERR_MODE, or what a read may return (TW_ERR_CORRUPT:
 * a frame is damaged). */
TW_API_STATUS tw_status tw_multifile_regions(tw_multifile* multifile, tw_region_fn fn, void* user);

/* ---- Health ------------------------------------------------------------------------------------------------ */

/* Reads everything and checks every checksum. Changes nothing.
 * path       [in]  the first physical file.
 * fn, progress     may be NULL; `user` is handed to both.
 * health     [out] what was found, also on failure as far as the work came. May be NULL.
 * Returns TW_OK when the multifile is whole and closed; TW_ERR_NOT_CLOSED, TW_ERR_CORRUPT (see health and the
 * findings); TW_ERR_STOPPED; or what hindered it: TW_ERR_INVALID, TW_ERR_NOT_FOUND, TW_ERR_PERMISSION, TW_ERR_VERSION,
 * TW_ERR_IO, TW_ERR_NO_MEMORY. */
TW_API_STATUS tw_status tw_multifile_verify(const char* path, tw_finding_fn fn, tw_progress_fn progress, void* user,
                                            tw_health* health);

/* Makes an unclosed multifile readable again: finds all chunks by their frames, checks them, writes the index and
 * closes it; then verifies it. A multifile that is closed and sound is left alone. Nobody may have the file open for
 * writing: where locks tell so, that is TW_ERR_UNSAFE. Where the locks of the file system are not known to reach all
 * nodes, an unclosed file is looked at twice, 3 seconds apart: TW_ERR_UNSAFE where it changes, and without
 * TW_REPAIR_FORCE in any case (docs/reference/visibility.md). A writer of another node that lives on all the same fails
 * at its close with TW_ERR_UNSAFE.
 * Can be interrupted, stopped and repeated: each physical file is as it was or mended.
 * flags      [in]  0 or TW_REPAIR_FORCE.
 * The other arguments as of tw_multifile_verify(). By one task; blocks.
 * Returns TW_OK; TW_ERR_UNSAFE (see above); TW_ERR_CORRUPT when flushed bytes are damaged: then what is whole has been
 * brought back, and the findings name the rest; TW_ERR_STOPPED; or what hindered it: as tw_multifile_verify(), and
 * TW_ERR_NO_SPACE. */
TW_API_STATUS tw_status tw_multifile_repair(const char* path, int32_t flags, tw_finding_fn fn, tw_progress_fn progress,
                                            void* user, tw_health* health);

/* Copies a closed multifile to `to`: one physical file, one chunk per logical file, no holes, names and attributes
 * kept. `from` is not changed. After a failure `to` is gone again.
 * to         [in]  must not exist (TW_ERR_EXISTS).
 * options    [in]  its hints, but physical_files, apply to `to`; the rest of it is ignored. May be NULL.
 * progress   may be NULL; `user` is handed to it.
 * Returns TW_OK, TW_ERR_STOPPED, TW_ERR_NOT_CLOSED, or as tw_multifile_open() of `from` and to make `to`, and
 * tw_multifile_write(). */
TW_API_STATUS tw_status tw_multifile_defrag(const char* from, const char* to, const tw_options* options,
                                            tw_progress_fn progress, void* user);

/* Drains what programs that have ended left in a tier of this node (hint tier) to the file system that the nodes share.
 * A multifile that was closed gets its name, in place of an older one, once the parts of all nodes have arrived; the
 * call that finds them so makes it whole, on any node. One that was flushed and not closed is repaired; where an older
 * whole one has its name, it keeps the name that it has while it is drained. What is drained is removed from the tier.
 * Call it on all nodes, at once or in turn; it can be interrupted and repeated. Folders of running programs, and parts
 * that another call drains at the moment, are left alone (TW_ERR_UNSAFE).
 * folder     [in]  the value of the hint.
 * lost       [in]  not 0: the copies in this tier of the parts of other nodes (hint partner) are drained, too. For
 *                  nodes that are gone: such a copy lacks what its node flushed after it was made.
 * fn         called with a line for each multifile; may be NULL. `user` is handed to it.
 * Returns TW_OK: all of it is drained; TW_ERR_NOT_CLOSED: parts of a multifile have not arrived, and the line names
 * them; or the first other failure, after all the rest was drained: TW_ERR_INVALID, TW_ERR_NOT_FOUND (no such folder),
 * TW_ERR_UNSAFE, TW_ERR_CORRUPT, TW_ERR_EXISTS (made with TW_EXCLUSIVE, and there is another one by now),
 * TW_ERR_PERMISSION, TW_ERR_NO_SPACE, TW_ERR_IO, TW_ERR_NO_MEMORY. */
TW_API_STATUS tw_status tw_multifile_drain(const char* folder, int32_t lost, tw_finding_fn fn, void* user);

#ifdef __cplusplus
}
#endif
#endif
