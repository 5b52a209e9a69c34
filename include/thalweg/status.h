/* Status codes and the text of the last failure. C11 and C++.
 *
 * Every function of the C API that can fail returns a tw_status: TW_OK (0), or a negative code. tw_last_error() says
 * what happened, to which file, with which values, and what to do about it. */
#ifndef THALWEG_STATUS_H
#define THALWEG_STATUS_H

#include <stdint.h>

#include "export.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t tw_status; /* one of the values below; 0 is success, every failure is negative */

/* Append, never renumber. */
enum {
  TW_OK = 0,
  TW_ERR_INVALID = -10,      /* an argument is out of its documented range */
  TW_ERR_UNKNOWN_HINT = -11, /* no hint has that name, or its value cannot be read */
  TW_ERR_RANGE = -12,        /* a sum or product exceeds 2^63-1 */
  TW_ERR_MODE = -13,         /* the handle was not opened for this */
  TW_ERR_NOT_FOUND = -20,    /* no such file, logical file or name */
  TW_ERR_EXISTS = -21,       /* it exists already */
  TW_ERR_PERMISSION = -22,   /* the system refused access */
  TW_ERR_UNSAFE = -23,       /* refused because it could harm other files */
  TW_ERR_IO = -30,           /* a system call failed; tw_last_errno() has its errno */
  TW_ERR_NO_SPACE = -31,     /* file system full, quota used up or file too large for it */
  TW_ERR_NO_MEMORY = -32,    /* out of memory */
  TW_ERR_CORRUPT = -40,      /* bytes on disk contradict their checksum or the format */
  TW_ERR_VERSION = -41,      /* written in another version of the format, or needs a feature this build lacks */
  TW_ERR_NOT_CLOSED = -42,   /* a task has abandoned the open file, or the program that wrote it did not close it; then
                                `thalweg repair` makes a multifile or a vpfile readable, and a shared file is plain */
  TW_ERR_STOPPED = -50,      /* a callback of the caller asked to stop */
  TW_ERR_NOT_BUILT = -60,    /* this build lacks that part */
  TW_ERR_INTERNAL = -90      /* a defect of the library */
};

/* Ignores a status on purpose: a call that returns one has TW_API_STATUS, so that compilers warn where it is lost. */
static inline void tw_status_ignore(tw_status status) { (void)status; }

/* The name of a code, as "TW_ERR_NO_SPACE"; "unknown status" for a number that is none. The text is static.
 * Call:      independent.
 * Threads:   any.
 * Since      0.2. */
TW_API const char* tw_status_name(tw_status status);

/* What failed in the last failing call of this thread: action, object, values, way out. One line.
 * Never NULL; "" when no call of this thread has failed yet. Valid until the next failing call on this thread.
 * Call:      independent.
 * Threads:   any, each has its own text.
 * Since      0.2. */
TW_API const char* tw_last_error(void);

/* errno of the system call behind the last failure of this thread, 0 when there was none.
 * Call:      independent.
 * Threads:   any.
 * Since      0.2. */
TW_API int tw_last_errno(void);

#ifdef __cplusplus
}
#endif
#endif
