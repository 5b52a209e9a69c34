/* How files are opened: the flags and the options of tw_multifile_open(), tw_file_open() and tw_vpfile_open().
 * C11 and C++.
 *
 *     tw_options* options;
 *     tw_options_create(&options);
 *     tw_options_set_hint(options, "chunk_bytes", "4MiB");
 *     tw_multifile_open(group, "dump.tw", TW_CREATE | TW_TRUNCATE, options, &multifile);
 *     tw_options_free(&options);
 *
 * All three opens have the same arguments:
 *   group    [in]   the tasks that open the file. NULL is a group of this task alone: where several tasks pass it, each
 *                   opens the file by itself. The handle keeps what it needs of the group, which may be freed as soon
 *                   as the open has returned.
 *   path     [in]   the name of the file, the same on all tasks.
 *   flags    [in]   TW_READ ... TW_DIRECT, or-ed; the same on all tasks.
 *   options  [in]   NULL stands for the defaults. The open only reads them: several opens may use them at once.
 *   handle   [out]  set on success, else NULL.
 *
 *   flag          multifile                    shared file                   vpfile
 *   TW_READ       read what was closed         read                          read
 *   TW_WRITE      implied by the next ones     write                         write into an existing vpfile
 *   TW_CREATE     make it; TW_ERR_EXISTS       make it where there is none,  make it; TW_ERR_EXISTS
 *                 where there is one           else open what is there       where there is one
 *   TW_EXCLUSIVE  with TW_CREATE: TW_ERR_EXISTS where there is one, whatever else is given
 *   TW_TRUNCATE   with TW_CREATE: replace it   make it empty                 with TW_CREATE: replace it
 *   TW_APPEND     write at the end of each     the shared position begins    each VP writes at the end of
 *                 logical file                 at the end of the file        its stream
 *   TW_RECOVER    with TW_READ: read what      TW_ERR_INVALID                TW_ERR_INVALID
 *                 was not closed
 *   TW_DIRECT     TW_ERR_INVALID               move bytes past the page      TW_ERR_INVALID
 *                                              cache where that is possible
 *
 * TW_CREATE, TW_TRUNCATE and TW_APPEND imply TW_WRITE. TW_APPEND alone needs an existing file; TW_CREATE | TW_APPEND
 * makes one where there is none.
 *
 * TW_ERR_INVALID: no flag at all; TW_EXCLUSIVE without TW_CREATE; TW_TRUNCATE without TW_CREATE, but for a shared file;
 * an unknown flag, or one that means nothing for the kind of file. The message names the flag, the call and what to
 * pass. A multifile is open for reading or for writing, never for both: TW_READ with TW_WRITE, TW_CREATE or TW_APPEND
 * is TW_ERR_INVALID. So is TW_WRITE alone: a multifile is created or appended to.
 *
 *   letters of stdio   flags                          with '+'                    C++: thalweg::flags_of("w+")
 *   "r"                TW_READ                        TW_READ | TW_WRITE
 *   "w"                TW_CREATE | TW_TRUNCATE        and TW_READ
 *   "a"                TW_CREATE | TW_APPEND          and TW_READ
 *   "x"                TW_CREATE | TW_EXCLUSIVE       and TW_READ
 *
 * For a shared file "a" is only where the shared position begins: unlike after fopen(), a write at an offset, in a view
 * or after a seek goes to its position. A multifile takes no '+'.
 *
 *   option                       multifile       shared file     vpfile
 *   hints                        its own         its own         its own and those of a shared file
 *   ranks, range                 yes             TW_ERR_INVALID  TW_ERR_INVALID
 *   mapping                      when creating   TW_ERR_INVALID  TW_ERR_INVALID
 *   progress                     yes             TW_ERR_INVALID  TW_ERR_INVALID
 *   shape, box                   TW_ERR_INVALID  TW_ERR_INVALID  yes
 *   permissions                  TW_ERR_INVALID  yes             TW_ERR_INVALID
 *
 * Calls of this header: independent; one at a time per tw_options, and none while an open uses it. Since 0.2. */
#ifndef THALWEG_OPEN_H
#define THALWEG_OPEN_H

#include <stddef.h>
#include <stdint.h>

#include "export.h"
#include "health.h"
#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* None of the values is a flag of open(2). */
enum {
  TW_READ = 0x01000000,
  TW_WRITE = 0x02000000,
  TW_CREATE = 0x04000000,
  TW_EXCLUSIVE = 0x08000000,
  TW_TRUNCATE = 0x10000000,
  TW_APPEND = 0x20000000,
  TW_RECOVER = 0x40000000,
  TW_DIRECT = 0x00800000
};

typedef struct tw_options tw_options; /* how to open a file; freed by tw_options_free() */

/* Makes options with every value at its default.
 * options [out] the caller's; free them with tw_options_free().
 * Returns TW_OK, TW_ERR_INVALID, TW_ERR_NO_MEMORY. */
TW_API_STATUS tw_status tw_options_create(tw_options** options);

/* Frees options and sets *options to NULL; NULL and the address of NULL do nothing. No file keeps its options: they may
 * be freed, changed or used again as soon as the open has returned. What the caller gave to tw_options_set_progress()
 * is borrowed for longer. */
TW_API void tw_options_free(tw_options** options);

/* Adds one hint by name and text, as in ("chunk_bytes", "4MiB"); both are copied. A later value replaces an earlier
 * one. tw_hint_info() and `thalweg hints` list all hints; docs/howto/hints.md says when to change them. The open checks
 * them: TW_ERR_UNKNOWN_HINT for a name that the kind of file does not have, or for a value that cannot be read.
 * Multifile: when creating or appending, all tasks give the same values, but for chunk_bytes, buffer_bytes and verify;
 * else the open fails with TW_ERR_INVALID on all tasks. Shared file and vpfile: the hints of task 0 count.
 * Returns TW_OK, TW_ERR_INVALID (NULL, or a ',' or '=' that would begin another hint), TW_ERR_NO_MEMORY. */
TW_API_STATUS tw_status tw_options_set_hint(tw_options* options, const char* name, const char* value);

/* Adds several hints, as in "chunk_bytes=4MiB,checksum=none"; copied.
 * Returns TW_OK, TW_ERR_INVALID (NULL), TW_ERR_NO_MEMORY. */
TW_API_STATUS tw_status tw_options_set_hints(tw_options* options, const char* hints);

/* Multifile: the logical files that this task serves, where that is not simply "the one of my rank".
 * n_logical   the number N of logical files of the whole multifile, the same on all tasks, >= 0. When reading
 *             or appending pass -1: the file says. 0 for one that holds only what tasks add by names.
 * ranks       n_ranks logical ranks, 0 .. N-1, none twice; copied. When creating or appending no rank may be
 *             served by two tasks, and a rank that no task serves is empty. When reading any task may open any rank.
 *             The first one is current after the open. n_ranks may be 0.
 * Without this call a group of S tasks that creates a multifile serves one logical file per task. When reading or
 * appending a multifile of N logical files, task s serves the consecutive ranks [s*N/S, (s+1)*N/S): one each when
 * S == N, all of them when S == 1; and an even share of those that were added by names, which N does not count here and
 * whose ranks follow.
 * Returns TW_OK, TW_ERR_INVALID, TW_ERR_NO_MEMORY. The open reports what does not fit the multifile. */
TW_API_STATUS tw_status tw_options_set_ranks(tw_options* options, int64_t n_logical, const int64_t* ranks,
                                             int64_t n_ranks);

/* Multifile: as tw_options_set_ranks() for the consecutive ranks first .. first+count-1; needs no memory per rank.
 * Returns TW_OK, TW_ERR_INVALID. */
TW_API_STATUS tw_status tw_options_set_range(tw_options* options, int64_t n_logical, int64_t first, int64_t count);

/* Says which physical file (0 .. n_physical-1) holds logical file `rank` (0 .. n_logical-1).
 * Called on task 0 only, by the thread that opens, once per logical file in rank order. Another answer than these
 * fails the open with TW_ERR_INVALID on all tasks. */
typedef int32_t (*tw_mapping_fn)(int64_t rank, int64_t n_logical, int32_t n_physical, void* user);

/* Multifile, when creating: the caller chooses the physical file of each logical file. The number of physical files is
 * the hint "physical_files", which must then be a number. The mapping of task 0 counts; reading and appending ignore
 * it.
 * mapping    NULL removes an earlier one.
 * user       handed to `mapping`; borrowed, as `mapping` is, until the last open with these options has returned.
 * Returns TW_OK, TW_ERR_INVALID (options is NULL), TW_ERR_NO_MEMORY. */
TW_API_STATUS tw_status tw_options_set_mapping(tw_options* options, tw_mapping_fn mapping, void* user);

/* Multifile: calls that may take long ask now and then whether to go on: the scan of TW_RECOVER, which each physical
 * file has when it is first needed, tw_multifile_find(), tw_multifile_regions(), tw_multifile_close() of a writer, and
 * calls that read the index of very many pieces.
 * progress   `done` of `total` bytes of the physical file that is scanned; 0 of 0 where nothing is counted. Not 0 asks
 *            to stop: the call fails with TW_ERR_STOPPED, a collective call on all tasks, and may be repeated. After a
 *            stopped close the multifile stays unclosed. NULL removes an earlier one.
 * user       handed to `progress`; borrowed, as `progress` is, until what is opened with these options is closed.
 * Threads: called by the thread that makes the call; by several at once where several make calls. It must not throw.
 * Returns TW_OK, TW_ERR_INVALID (options is NULL), TW_ERR_NO_MEMORY. */
TW_API_STATUS tw_status tw_options_set_progress(tw_options* options, tw_progress_fn progress, void* user);

/* Vpfile: the shape of its virtual processors; needed to create one, else compared with that of the file.
 * n_dims   number of dimensions, 1 .. 64; 0 removes an earlier shape.
 * shape    n_dims extents, all at least 1, the same on all tasks; at most 2^40 virtual processors; copied.
 * Returns TW_OK, TW_ERR_INVALID (NULL, a negative n_dims), TW_ERR_NO_MEMORY. The open reports what is wrong with it. */
TW_API_STATUS tw_status tw_options_set_shape(tw_options* options, int32_t n_dims, const int64_t* shape);

/* Vpfile: the box of this task within the shape. The boxes of all tasks must hold each virtual processor once.
 * Without a box: the first dimension that has a place for every task, else the longest one, is cut into consecutive
 * parts, one for each task in order of ranks.
 * n_dims   that of the shape; 0 removes an earlier box.
 * start    the first index in each dimension; copied.
 * count    the number of indices in each dimension, 0 is allowed; copied.
 * Returns TW_OK, TW_ERR_INVALID (NULL, a negative n_dims), TW_ERR_NO_MEMORY. The open reports what is wrong with it. */
TW_API_STATUS tw_status tw_options_set_box(tw_options* options, int32_t n_dims, const int64_t* start,
                                           const int64_t* count);

/* Shared file: the permissions of a new one, before the umask; 0 stands for 0666. Task 0 decides.
 * Returns TW_OK, TW_ERR_INVALID (options is NULL). */
TW_API_STATUS tw_status tw_options_set_permissions(tw_options* options, uint32_t permissions);

/* Hints: one table serves parsing, `thalweg hints` and the documentation. All text is static. */
typedef struct tw_hint {
  const char* name;          /* as given to tw_options_set_hint() */
  const char* type;          /* "bytes", "count", "choice", "bool", "text" */
  const char* default_value; /* text */
  const char* values;        /* range or list of choices */
  const char* help;          /* one line */
  const char* scope;         /* what is opened with it: "multifile", "file", "vpfile", "multifile or vpfile",
                              * "file or multifile"; a vpfile takes those of a file, too */
} tw_hint;
/* Hint number i, static, or NULL when i is negative or past the last. */
TW_API const tw_hint* tw_hint_info(int64_t i);

#ifdef __cplusplus
}
#endif
#endif
