/* Storage: which file system a path is on, what `thalweg tune` measured there, and how an access would be carried out.
 * C11 and C++.
 *
 * The library moves the bytes of a shared file (file.h) in the way that is cheapest on the storage. What is cheap is
 * known from a *profile*: a small file that `thalweg tune DIR` writes, with an entry for each file system. Without an
 * entry the defaults hold, which are meant not to lose to plain pwrite. A program needs none of the calls here; they
 * show people and tools the same properties. Design: docs/design/storage.md. */
#ifndef THALWEG_STORAGE_H
#define THALWEG_STORAGE_H

#include <stddef.h>
#include <stdint.h>

#include "export.h"
#include "file.h"
#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Properties of a storage. Zero-initialise, then set struct_size; fields may be added at the end. */
typedef struct tw_storage_info {
  size_t struct_size;
  /* Alignment in bytes that direct transfers (past the page cache) need; 0: the file system has no direct I/O. Where it
   * reports none, one page is tried, once per process, in a file without a name. */
  int64_t direct_alignment;
  /* The file system, as text that is the same for all its files: "ext4-0123456789abcdef". Network and memory file
   * systems may be named differently after the next mount, and on another node. */
  char identity[128];
  /* The file that profiles are read from and written to: the environment variable THALWEG_PROFILE, else
   * thalweg/storage.json in $XDG_CONFIG_HOME or ~/.config. It need not exist; it is read once per process. "": profiles
   * are turned off (THALWEG_PROFILE is empty or "none"). */
  char profile[4160];
  /* Bytes of a stripe of the file, or of new files of the folder, and over how many targets (servers, OSTs) the stripes
   * go in turn; 0: the file system does not tell. Lustre and BeeGFS tell both, GPFS its block. Since 0.2. */
  int64_t stripe_bytes;
  int64_t stripe_count;
  /* 1: nodes see at once what others write there, or no other node writes; 0: they see it after tw_file_sync() and at
   * the next open, which holds where nothing is known, and where `thalweg check` found it
   * (docs/reference/visibility.md) */
  int64_t coherent;
} tw_storage_info;

/* Describes the storage of a path.
 * Call:     independent.
 * Blocking: as stat(2).
 * Threads:  any, unless one changes the environment.
 * path  [in]   a file or folder; or a file that does not exist yet, in a folder that does. NULL: only the profile.
 * info  [out]  filled up to its struct_size; as it was on failure.
 * Returns TW_OK, TW_ERR_INVALID (NULL, or struct_size is not set), TW_ERR_RANGE (a text is too long), TW_ERR_NOT_FOUND,
 * TW_ERR_PERMISSION, TW_ERR_IO, TW_ERR_NO_MEMORY. Since 0.2. */
TW_API_STATUS tw_status tw_storage_describe(const char* path, tw_storage_info* info);

/* A regular access: extent j of task i lies at i * task_distance + j * stride of the file; the memory of each task is
 * one piece. Zero-initialise, then set struct_size. */
typedef struct tw_access_pattern {
  size_t struct_size;
  tw_direction direction;
  int64_t tasks;     /* 1 .. 1000000 */
  int64_t processes; /* over which the tasks are spread; 0 stands for 1: all share memory */
  int64_t extents;   /* of each task, >= 0 */
  int64_t length;    /* bytes of each extent, >= 0 */
  int64_t stride;    /* bytes between the begins of a task's neighbouring extents; 0 stands for `length`: no holes */
  /* Bytes between the begins of neighbouring tasks. 0: they take turns where a stride has room for all of them, else
   * each begins behind the one before. */
  int64_t task_distance;
} tw_access_pattern;

/* Describes in words how an access would be carried out, and why: the lines "storage: ", "read: " or "write: ", "way: "
 * and "plan: ", and "layout: " where there are stripes to tell. The words may change between versions.
 * Call:     independent.
 * Blocking: as stat(2); the first call reads the profile.
 * Threads:  any.
 * path     [in]  as of tw_storage_describe().
 * hints    [in]  as in tw_options_set_hints(); NULL: none.
 * access   [in]  borrowed during the call.
 * text     [out] with the closing NUL; 4096 bytes are enough but for very long paths. "" on failure.
 * size     [in]  bytes of `text`.
 * Returns TW_OK, TW_ERR_INVALID (NULL, numbers out of their ranges, extents that overlap), TW_ERR_UNKNOWN_HINT,
 * TW_ERR_RANGE (the access ends above 2^63-1, or `size` is too small), or what tw_storage_describe() may return. Since
 * 0.2. */
TW_API_STATUS tw_status tw_storage_explain(const char* path, const char* hints, const tw_access_pattern* access,
                                           char* text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
