/* Reports of verify and repair for multifiles and vpfiles: progress, findings, summary. C11 and C++. Since 0.2. */
#ifndef THALWEG_HEALTH_H
#define THALWEG_HEALTH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Called now and then during long work: `done` of `total` bytes (of a vpfile: virtual processors) of the step at hand.
 * Within a step `done` never falls; it may end below `total`, as holes are skipped. Verify and defrag are one
 * step, over the bytes of all logical files. A repair has a step for each physical file that it mends, over the bytes
 * of that file, and then verifies. Not 0 asks to stop: the call returns TW_ERR_STOPPED, and what becomes of the files
 * is said there. */
typedef int (*tw_progress_fn)(int64_t done, int64_t total, void* user);
/* Called once per finding, one line of text without line end, borrowed during the call. */
typedef void (*tw_finding_fn)(const char* text, void* user);

/* Flags of tw_multifile_repair() and tw_vpfile_repair(); 0: none. Others are TW_ERR_INVALID. */
enum {
  /* No program of another node has the file open: repair it although the locks of its file system may not reach all
   * nodes (docs/reference/visibility.md). A file that is seen to change within 3 seconds is refused all the same. */
  TW_REPAIR_FORCE = 1
};

/* Set struct_size = sizeof before the call; fields may be added at the end. */
typedef struct tw_health {
  size_t struct_size;
  int64_t n_logical;       /* logical files of the multifile; streams of the vpfile */
  int64_t damaged_logical; /* of these: with bytes that cannot be read or contradict their checksum */
  int64_t logical_bytes;   /* bytes of all logical files that are whole */
  int64_t findings;        /* number of calls of the finding function */
  int32_t closed;          /* 1: it was closed (before a repair) */
  int32_t repaired;        /* 1: the repair wrote something */
} tw_health;

#ifdef __cplusplus
}
#endif

#endif
