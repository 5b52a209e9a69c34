/* The vpfile: a stream for each virtual processor (VP) of a shape, with the meaning that C stdio gives to a stream, in
 * one file. C11 and C++; includes neither mpi.h nor omp.h.
 *
 *     int64_t shape[2] = {256, 128};
 *     tw_options_set_shape(options, 2, shape);
 *     tw_vpfile_open(group, "particles.vp", TW_CREATE, options, &f);        // collective
 *     tw_vpfile_write_all(f, TW_VPFILE_PACKED(values, 24), NULL, NULL);         // collective: 24 bytes of each VP
 *     tw_vpfile_write(f, vp, data, bytes, NULL);                            // independent: one VP
 *     tw_vpfile_close(&f);                                                  // collective
 *
 * Words: a *shape* has any number of dimensions; its VPs are numbered 0 .. N-1 in row-major order. Each task has a
 * *box* of them, its *local* VPs, numbered 0 .. n-1 in row-major order within the box. Arrays "of every local VP" have
 * n entries in that order. A *mask* has a byte for every local VP, 0: it takes no part; NULL: all do. Positions and
 * sizes are bytes.
 *
 * Who reads a vpfile need not have the boxes, or the number of tasks, of those who wrote it. A file that was only
 * written by all VPs at once, always the same number of bytes from packed memory, is the plain array of what was
 * written; such an array of any origin can be opened, too.
 *
 * How bytes are moved is found by the library, access by access (tw_vpfile_summary): NB, no buffering; CB, collective
 * buffering; IB, independent buffering. It changes speed, never content. Source: Moore, Hatcher, Quinn, "Stream*: Fast,
 * Flexible, Data-Parallel I/O". Format: docs/format/vpfile.md.
 *
 * Unless a call says otherwise:
 *   Call       independent: other tasks need not make it. Calls marked collective are made by all tasks of the group,
 *              in the same order. A collective call that fails on one task fails on all; a task that skips one, or
 *              makes another one, keeps the others waiting. Different collective calls on one vpfile at once (one task
 *              closes, others write or flush) are detected: all tasks get TW_ERR_INVALID, the message names two tasks
 *              and their calls, every later collective call on the file fails at once, and the file stays marked as not
 *              closed.
 *   Blocking   it returns when its work is done; a collective call waits for the other tasks.
 *   Threads    calls of one VP (tw_vpfile_read(), ...) may be made by several threads of a task at once, of different
 *              VPs. All others: one call at a time per handle, and none of one VP beside them.
 *   Ownership  what is passed in stays the caller's and may change when the call returns.
 *   Results    an [out] pointer is set on success only.
 *   Errors     TW_OK, or TW_ERR_INVALID: an argument is NULL or out of range (also: `vp` is not a VP of this task);
 *              TW_ERR_MODE: the handle is not open for that. What reads may return TW_ERR_IO, TW_ERR_CORRUPT,
 *              TW_ERR_NO_MEMORY; what writes TW_ERR_IO, TW_ERR_NO_SPACE, TW_ERR_RANGE, TW_ERR_NO_MEMORY, and it may
 *              read, too. After a failure of an access the VPs that met it have their error flag set and did not move:
 *              their position stays, their count is 0. The others moved as their counts say. tw_last_error() says it in
 *              words. Since 0.2.
 *
 * Durability: bytes written before a successful flush survive the death of the process, before a successful
 * tw_vpfile_sync_all() the death of the machine, and of the daemon of a mount (docs/reference/visibility.md, Failures).
 *
 * Nodes: on a file system that several nodes share and that is not known to keep their caches coherent, other than FUSE
 * (NFS, SMB, ...), a write of one VP, and a collective one in which VPs differ, is TW_ERR_UNSAFE for a group on several
 * nodes. On FUSE, too, a read or write of one VP is TW_ERR_UNSAFE where collective writes have stored those bytes, or
 * bytes before and behind them, since the last tw_vpfile_sync_all() (docs/reference/visibility.md).
 *
 * Replacement: TW_TRUNCATE over a vpfile that others have open writes into its data file, whose bytes have no
 * checksums. A handle that was open before may then give out bytes of either: close readers first. */
#ifndef THALWEG_VPFILE_H
#define THALWEG_VPFILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "export.h"
#include "group.h"
#include "health.h"
#include "open.h"
#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tw_vpfile tw_vpfile; /* an open vpfile; freed by tw_vpfile_close() */

/* ---- Open and close ---------------------------------------------------------------------------------------- */

/* Opens a vpfile. open.h says what the arguments have in common with the other opens.
 * Call:    collective.
 * Threads: one call at a time per group.
 * path     [in]  name of the data file; NAME.meta, and where needed NAME.first, NAME.dir and NAME.batches, lie beside
 *                it.
 * flags    [in]  TW_READ, TW_WRITE or both; TW_CREATE, TW_EXCLUSIVE, TW_TRUNCATE, TW_APPEND. With TW_APPEND every VP
 *                writes at the end of its stream; its position is 0 at first.
 * options  [in]  hints (those of a vpfile and of a shared file; task 0 decides), shape, box. A new vpfile needs a
 *                shape; an existing one has it already, and another one is TW_ERR_INVALID.
 * vpfile   [out] the handle, or NULL on failure.
 * Returns TW_OK, or on all tasks TW_ERR_INVALID (also: another shape), TW_ERR_UNKNOWN_HINT, TW_ERR_NOT_FOUND,
 * TW_ERR_EXISTS, TW_ERR_PERMISSION, TW_ERR_IO, TW_ERR_NO_MEMORY, TW_ERR_CORRUPT, TW_ERR_VERSION, TW_ERR_NOT_CLOSED,
 * TW_ERR_UNSAFE (another program writes it; or, for writing, the file looks like a multifile, HDF5, NetCDF or SIONlib,
 * or a file that has the name of a side file is none: nothing is touched, unless the hint overwrite_foreign is on). A
 * call that fails leaves the files as they were, unless replacing them was what failed.
 *
 * A file without NAME.meta is taken for an array: one NB segment of this shape, whose records are as long as the first
 * access moves, or as the hint record_bytes says. Opened for writing it gets its NAME.meta as soon as that is known,
 * and then has to be closed as any vpfile. */
TW_API_STATUS tw_status tw_vpfile_open(tw_group* group, const char* path, int32_t flags, const tw_options* options,
                                       tw_vpfile** vpfile);

/* Stores what is in memory, frees the handle, also on failure, and sets *vpfile to NULL. After a failure the file stays
 * marked as not closed. The close of a vpfile that was written and closed before (an append or an update) syncs it.
 * Call:    collective.
 * Returns TW_OK, TW_ERR_NOT_CLOSED (a task has abandoned it), TW_ERR_NOT_FOUND (one of its files was removed
 * meanwhile), TW_ERR_UNSAFE (one of its names leads to another file by now, which is left as it is), TW_ERR_INVALID (it
 * is not open), or what storing failed with. What a program leaves open is flushed when it ends by exit() or a return
 * from main(), and when MPI is finalised, unless a thread is inside of it; a line on standard error names the file,
 * which stays not closed. The last unflushed row of collective writes is lost after exit() with several processes, or
 * if only some ranks forget the close. In the child of a fork a handle that writes fails with TW_ERR_MODE. */
TW_API_STATUS tw_status tw_vpfile_close(tw_vpfile** vpfile);

/* Gives the vpfile up instead of closing it, for a task that cannot go on: after a failure of its own, or while an
 * exception unwinds. Stores what this task has in memory, frees the handle and sets *vpfile to NULL; the file stays
 * marked as not closed. The other tasks keep their handles, and every collective call that they make on it from then on
 * fails on all of them with TW_ERR_NOT_CLOSED, tw_vpfile_close() too, which stores what they have and frees the handle.
 * Waits for nobody, whether the others are in a collective call, elsewhere, or gone. On a group of tw_group_callbacks()
 * the others find out only where it has start_largest. Bytes of the last row of collective writes, where it was not
 * flushed, can be lost.
 * Call:     independent.
 * Blocking: for storage.
 * Threads:  no other call on this handle meanwhile.
 * Returns TW_OK, or what storing failed with, and the handle is freed; TW_ERR_INVALID: it is not open, or MPI has
 * ended; TW_ERR_MODE: in the child of a fork. Since 0.2. */
TW_API_STATUS tw_status tw_vpfile_abandon(tw_vpfile** vpfile);

/* ---- What is it? ------------------------------------------------------------------------------------------- */

enum { TW_VPFILE_NB = 0, TW_VPFILE_CB = 1, TW_VPFILE_IB = 2 };

/* A change of the mode of the file since it was opened. */
typedef struct tw_vpfile_transition {
  int64_t access;    /* number of the collective access, from 0 */
  int32_t from, to;  /* TW_VPFILE_* */
  const char* cause; /* static text */
} tw_vpfile_transition;

/* Set struct_size before the call; fields may be added at the end. */
typedef struct tw_vpfile_summary {
  size_t struct_size;
  int32_t n_dims;
  int32_t mode;             /* TW_VPFILE_*: that of the file: what was written so far needed it */
  const int64_t* shape;     /* n_dims; borrowed until the handle is closed, as the box is */
  const int64_t* box_start; /* the box of this task */
  const int64_t* box_count;
  int64_t n_vps;       /* of the shape */
  int64_t n_local;     /* of this task */
  int64_t nb_record;   /* bytes of a record of the NB segment; 0: there is none */
  int64_t nb_bytes;    /* of each stream in the NB segment */
  int64_t cb_round;    /* bytes of a round of the CB segment; 0: there is none */
  int64_t cb_bytes;    /* of each stream in the CB segment */
  int64_t block_bytes; /* of the IB segment; 0: this task knows of none */
  int32_t last_mode;   /* TW_VPFILE_*: how the last collective access was carried out */
  int32_t reserved;
  const char* last_cause;                  /* static text: why it was not NB */
  int64_t n_transitions;                   /* changes of the mode of the file */
  const tw_vpfile_transition* transitions; /* n_transitions; borrowed until the next call of tw_vpfile_summarize() */
} tw_vpfile_summary;
/* Fills *summary.
 * Returns TW_OK, TW_ERR_INVALID (NULL, or struct_size is not set), TW_ERR_NO_MEMORY. */
TW_API_STATUS tw_status tw_vpfile_summarize(tw_vpfile* vpfile, tw_vpfile_summary* summary);

/* Number in the shape of local VP `local`, and back: TW_ERR_NOT_FOUND when VP `vp` is another task's. */
TW_API_STATUS tw_status tw_vpfile_number(tw_vpfile* vpfile, int64_t local, int64_t* vp);
TW_API_STATUS tw_status tw_vpfile_local(tw_vpfile* vpfile, int64_t vp, int64_t* local);

/* ---- All VPs ----------------------------------------------------------------------------------------------- */

/* What every VP reads or writes: `n_items` items of `item_bytes` bytes. */
typedef struct tw_vpfile_data {
  void* base;            /* only read when writing */
  size_t item_bytes;     /* at least 1 */
  int64_t n_items;       /* of each VP, or ... */
  const int64_t* n_each; /* ... of every local VP; NULL: n_items */
  int64_t item_stride;   /* bytes from an item to the next one of the same VP; 0: item_bytes */
  /* Bytes from the first item of a VP to that of the next one in each dimension of the box (as many as the shape has).
   * NULL: what VPs move lies one behind the other, and VPs that take no part have no room there. */
  const int64_t* vp_strides;
} tw_vpfile_data;
/* n bytes of each VP, one behind the other. */
#ifdef __cplusplus
#define TW_VPFILE_PACKED(address, n) \
  (tw_vpfile_data{const_cast<void*>(static_cast<const void*>(address)), (n), 1, nullptr, 0, nullptr})
#else
#define TW_VPFILE_PACKED(address, n) ((tw_vpfile_data){(void*)(uintptr_t)(const void*)(address), (n), 1, NULL, 0, NULL})
#endif

/* As fread and fwrite, of every VP that takes part, at its position.
 * Call: collective; all tasks read, or all write. A task without VPs makes it, too.
 * data   [in]  where in memory, and how much; the memory must not overlap itself when reading.
 * mask   [in]  may be NULL.
 * counts [out] may be NULL: whole items moved, of every local VP; 0 of those that take no part. Set on failure, too.
 *              Fewer than asked for where a stream ends. */
TW_API_STATUS tw_status tw_vpfile_read_all(tw_vpfile* vpfile, tw_vpfile_data data, const uint8_t* mask,
                                           int64_t* counts);
TW_API_STATUS tw_status tw_vpfile_write_all(tw_vpfile* vpfile, tw_vpfile_data data, const uint8_t* mask,
                                            int64_t* counts);

/* As fseek of every VP that takes part: by offsets[i] (of every local VP), or by `offset` where offsets is NULL. Clears
 * the eof and the error flag, as clearerr and rewind do, and removes what was pushed back. Uniform: give the same on
 * all tasks, and accesses stay fast. On failure nothing changes. */
TW_API_STATUS tw_status tw_vpfile_seek_all(tw_vpfile* vpfile, int64_t offset, const int64_t* offsets, int whence,
                                           const uint8_t* mask);
/* As ftell, feof and ferror of every local VP. Each of the pointers may be NULL. */
TW_API_STATUS tw_status tw_vpfile_tell_all(tw_vpfile* vpfile, int64_t* positions, uint8_t* eof, uint8_t* error);
/* As fgetc: of every local VP the byte, or -1 at its end and where it takes no part.
 * Call: collective. */
TW_API_STATUS tw_status tw_vpfile_getc_all(tw_vpfile* vpfile, int* bytes, const uint8_t* mask);
/* As fputc: bytes[i] of every local VP, or `byte` where bytes is NULL.
 * Call: collective. */
TW_API_STATUS tw_status tw_vpfile_putc_all(tw_vpfile* vpfile, int byte, const int* bytes, const uint8_t* mask);
/* As ungetc. Any number may be pushed back, as long as the position does not fall below 0; -1 has no effect. */
TW_API_STATUS tw_status tw_vpfile_ungetc_all(tw_vpfile* vpfile, int byte, const int* bytes, const uint8_t* mask);
/* As fgets: a line of at most size-1 bytes and a NUL for every VP, at lines + local * size. lengths[i] (may be
 * NULL): its bytes, 0 at the end.
 * Call: collective. */
TW_API_STATUS tw_status tw_vpfile_gets_all(tw_vpfile* vpfile, char* lines, size_t size, size_t* lengths,
                                           const uint8_t* mask);
/* As fputs: texts[i] of every local VP, or `text` where texts is NULL.
 * Call: collective. */
TW_API_STATUS tw_status tw_vpfile_puts_all(tw_vpfile* vpfile, const char* text, const char* const* texts,
                                           const uint8_t* mask);

/* An argument of every VP: at `base` that of local VP 0, `stride` bytes further that of the next one; 0: the same for
 * all. */
typedef struct tw_vpfile_argument {
  void* base;
  int64_t stride;
} tw_vpfile_argument;
/* As fprintf: one argument for each conversion of `format`, whose type follows from the conversion (%d: int, %ld: long,
 * %f: double, %Lf: long double, %c: int, %s: const char*, %p: void*). '*' and %n are refused.
 * Call: collective.
 * counts [out] may be NULL: bytes written, of every local VP. */
TW_API_STATUS tw_status tw_vpfile_printf_all(tw_vpfile* vpfile, const char* format, const tw_vpfile_argument* arguments,
                                             int64_t n_arguments, size_t* counts, const uint8_t* mask);
/* As fscanf: one argument for each conversion that is not suppressed; `base` points to what is set (%d: int, %s and %[:
 * char, with a width in the format).
 * Call: collective.
 * counts [out] may be NULL: conversions done, of every local VP; -1 at its end. */
TW_API_STATUS tw_status tw_vpfile_scanf_all(tw_vpfile* vpfile, const char* format, const tw_vpfile_argument* arguments,
                                            int64_t n_arguments, int64_t* counts, const uint8_t* mask);

/* What was written so far survives the death of the process; of the machine.
 * Call: collective. */
TW_API_STATUS tw_status tw_vpfile_flush_all(tw_vpfile* vpfile);
TW_API_STATUS tw_status tw_vpfile_sync_all(tw_vpfile* vpfile);

/* ---- One VP ------------------------------------------------------------------------------------------------ */
/* `vp` is a number in the shape, of a VP of this task. */

/* As fread and fwrite of nbytes bytes. *nread and *nwritten may be NULL and are set on failure, too; *nread is less
 * than nbytes only where the stream ends. */
TW_API_STATUS tw_status tw_vpfile_read(tw_vpfile* vpfile, int64_t vp, void* data, size_t nbytes, size_t* nread);
TW_API_STATUS tw_status tw_vpfile_write(tw_vpfile* vpfile, int64_t vp, const void* data, size_t nbytes,
                                        size_t* nwritten);
/* As fseek; clears the eof and the error flag, as clearerr does. */
TW_API_STATUS tw_status tw_vpfile_seek(tw_vpfile* vpfile, int64_t vp, int64_t offset, int whence);
/* As ftell, feof and ferror. Each of the pointers may be NULL. */
TW_API_STATUS tw_status tw_vpfile_tell(tw_vpfile* vpfile, int64_t vp, int64_t* position, int* eof, int* error);
/* Bytes of its stream. */
TW_API_STATUS tw_status tw_vpfile_size(tw_vpfile* vpfile, int64_t vp, int64_t* bytes);
/* *last: the highest VP of this task up to which from `vp` on no stream has more than what all streams have, or none
 * can be read for the reason that the call returns; else `vp`. Whoever goes through all VPs goes on behind it: a file
 * may claim any number of them. Open for reading only (else TW_ERR_MODE). Since 0.2. */
TW_API_STATUS tw_status tw_vpfile_alike(tw_vpfile* vpfile, int64_t vp, int64_t* last);
/* Moves the position behind bytes that nobody wrote, which are zeros and may be very many; *skipped tells
 * how many. Open for reading only (else TW_ERR_MODE). Since 0.2. */
TW_API_STATUS tw_status tw_vpfile_skip_gap(tw_vpfile* vpfile, int64_t vp, int64_t* skipped);
/* A FILE* on the stream of VP `vp`, for fprintf, fscanf, fgets, ungetc, ... It has the position of that stream: both
 * can be used in turns, and a call on the VP, or on all VPs, follows what stdio holds in memory; a byte of ungetc()
 * that no read took is dropped, and the position is one lower. fclose() it before tw_vpfile_close() and
 * tw_vpfile_abandon(), which flush streams that are still open; from then on they fail with EBADF, and fclose() still
 * frees them. A write of a FILE* that fails makes tw_vpfile_flush_all(), tw_vpfile_sync_all() and the close fail on
 * all tasks. Where two FILE* are on one stream, fflush() one before the other is used.
 * mode: "r" "w" "a" "r+" "w+" "a+", as far as the handle is open for reading and writing; no byte is cut off. "a"
 *       moves the position to the end, and each write of the FILE* goes there.
 * stream [out] the caller's, to be closed; NULL on failure.
 * Threads:  calls on the FILE* count as calls of this VP. tw_last_error() says what failed in one.
 * Returns TW_OK, TW_ERR_INVALID, TW_ERR_MODE, TW_ERR_NO_MEMORY, or what reading may return.
 * Source:   fopencookie(3). Since 0.2. */
TW_API_STATUS tw_status tw_vpfile_fopen(tw_vpfile* vpfile, int64_t vp, const char* mode, FILE** stream);
/* What this task wrote so far, of all its VPs, survives the death of the process, as far as it is in independent blocks
 * (IB): what NB and CB accesses added takes tw_vpfile_flush_all(). It also stores what each FILE* on
 * this VP holds in memory. */
TW_API_STATUS tw_status tw_vpfile_flush(tw_vpfile* vpfile, int64_t vp);

/* ---- Whole files ------------------------------------------------------------------------------------------- */
/* By one task; nobody may have the file open for writing. What they return besides: TW_ERR_NOT_FOUND,
 * TW_ERR_PERMISSION, TW_ERR_VERSION, TW_ERR_STOPPED, and what reading and writing may return. */

enum { TW_VPFILE_MOST_DIMS = 64 };

/* What NAME.meta says; of a file that was not closed, as of its last flush. Set struct_size before the call. */
typedef struct tw_vpfile_stored {
  size_t struct_size;
  int32_t n_dims;
  int32_t mode;   /* TW_VPFILE_*: that of its last segment */
  int32_t closed; /* 0: it was not closed; sizes are those of the last flush */
  int32_t version_major, version_minor;
  int32_t is_vpfile; /* 1 when `path` is the data file of a vpfile, also where the call fails because NAME.meta is
                        missing or damaged: it has a NAME.meta or NAME.first, or begins with blocks of one. A file that
                        looks like another format is none, whatever lies beside it. */
  int64_t n_vps;
  int64_t nb_record, nb_bytes; /* as in tw_vpfile_summary */
  int64_t cb_round, cb_bytes;
  int64_t block_bytes, superblock_bytes; /* of the IB segment; 0: there is none */
  int64_t ib_bytes;                      /* of all streams in the IB segment, when it was last closed */
  int64_t sessions;                      /* how often it was opened for writing */
  int64_t shape[TW_VPFILE_MOST_DIMS];    /* n_dims extents, then 0 */
} tw_vpfile_stored;
/* Returns TW_OK, and TW_ERR_CORRUPT where NAME.meta is missing or damaged. */
TW_API_STATUS tw_status tw_vpfile_look(const char* path, tw_vpfile_stored* stored);

enum {
  TW_VPFILE_REGION_NB = 1,     /* the NB segment, of all VPs */
  TW_VPFILE_REGION_CB = 2,     /* the CB segment, of all VPs */
  TW_VPFILE_REGION_HEADER = 3, /* of a superblock */
  TW_VPFILE_REGION_BLOCKS = 4, /* blocks of the VPs first_vp .. last_vp, as many of each, one VP behind the other */
  TW_VPFILE_REGION_UNUSED = 5, /* room in a superblock that nobody took */
  TW_VPFILE_REGION_TABLE = 6,  /* of a superblock: whose its blocks are */
  TW_VPFILE_REGION_HOLE = 7    /* belongs to nobody */
};
typedef struct tw_vpfile_region {
  int32_t kind; /* TW_VPFILE_REGION_* */
  int32_t reserved;
  int64_t offset, bytes;     /* in the data file */
  int64_t superblock;        /* its number; -1: in none */
  int64_t first_vp, last_vp; /* -1: nobody's */
} tw_vpfile_region;
/* Called for each byte range, which is borrowed during the call; not 0 ends the walk. */
typedef int (*tw_vpfile_region_fn)(const tw_vpfile_region* region, void* user);
/* Walks the byte ranges of the data file, by offset, without gap or overlap; also of a file that was not closed. Reads
 * the superblocks, not the lattice.
 * Returns TW_OK, also when `fn` ended the walk; TW_ERR_CORRUPT: NAME.meta is missing or damaged, or a superblock is not
 * whole: then `fn` was called for what lies before it. */
TW_API_STATUS tw_status tw_vpfile_regions(const char* path, tw_vpfile_region_fn fn, void* user);

/* Reads all that is not data of the lattice, and checks every checksum. Changes nothing.
 * fn, progress     may be NULL; `user` is handed to both.
 * health     [out] may be NULL; set on failure, too.
 * Returns TW_OK when the file is whole and closed; TW_ERR_NOT_CLOSED, TW_ERR_CORRUPT (the findings say what). */
TW_API_STATUS tw_status tw_vpfile_verify(const char* path, tw_finding_fn fn, tw_progress_fn progress, void* user,
                                         tw_health* health);

/* Makes an unclosed vpfile readable again, and side files that are missing or damaged, from the contents of the data
 * file; then verifies it. What is closed and sound is left alone. What was flushed is there afterwards; of what was not
 * flushed there may be more.
 * flags      [in]  0 or TW_REPAIR_FORCE, as of tw_multifile_repair().
 * shape      [in]  needed where NAME.meta is missing or damaged (n_dims 0: none is given).
 * Returns as tw_vpfile_verify(), and TW_ERR_UNSAFE where a program is writing the file, or may be
 * (tw_multifile_repair()). TW_ERR_CORRUPT also where the
 * file can be read again, but streams are known to have lost bytes at their end: records of a file that was cut off,
 * superblocks of a closed file. They count among the damaged ones this once; the next look finds a whole file. */
TW_API_STATUS tw_status tw_vpfile_repair(const char* path, int32_t flags, int32_t n_dims, const int64_t* shape,
                                         tw_finding_fn fn, tw_progress_fn progress, void* user, tw_health* health);

/* Writes the streams of `from` as a plain array: a vpfile `to` of one NB segment with one record of each VP.
 * record_bytes     of each VP; 0: as long as the longest stream. Longer streams are cut off.
 * fill             what stands behind the end of shorter ones.
 * Returns TW_ERR_EXISTS when `to` is there already, and TW_OK. */
TW_API_STATUS tw_status tw_vpfile_flatten(const char* from, const char* to, int64_t record_bytes, unsigned char fill,
                                          tw_progress_fn progress, void* user);

/* Makes NAME.meta for an array of this shape, each of whose records has record_bytes bytes of every VP; the file itself
 * stays as it is.
 * Returns TW_OK, TW_ERR_EXISTS (there is one that is not empty), TW_ERR_INVALID (the sizes do not fit), TW_ERR_UNSAFE
 * (the file looks like another format, or like a vpfile that has lost its NAME.meta). */
TW_API_STATUS tw_status tw_vpfile_import(const char* path, int32_t n_dims, const int64_t* shape, int64_t record_bytes);

#ifdef __cplusplus
}
#endif

#endif
