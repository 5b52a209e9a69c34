/* Simulation: what a collective would cost with many tasks, on one thread of one machine. C11 and C++. */
#ifndef THALWEG_SIM_H
#define THALWEG_SIM_H

#include <stddef.h>
#include <stdint.h>

#include "export.h"
#include "multifile.h"
#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tw_sim_report {
  size_t struct_size;     /* set before the call */
  double create_seconds;  /* all tasks: collective open with TW_CREATE */
  double close_seconds;   /* all tasks: close after writing */
  double open_seconds;    /* all tasks: collective open with TW_READ, one index entry looked up each */
  int64_t metadata_bytes; /* bytes of the physical files that are not user data */
  int64_t bytes_per_task; /* memory of the open handles, per task */
  int64_t peak_bytes;     /* largest growth of resident memory, all tasks together */
} tw_sim_report;

/* Creates, writes, closes, opens and closes a multifile in memory with `tasks` simulated tasks, the same code as real
 * tasks run, woken in an order drawn from `seed`; checks what is read.
 * tasks             1 .. 2^24
 * tasks_per_process how many simulated tasks share an address space
 * bytes_per_file    written by each task to its logical file, 0 .. 1 MiB
 * seed              any number; the same one gives the same order
 * config            its hints are those of every task; the rest of it is not looked at. Borrowed during the call; NULL:
 *                   all defaults
 * report     [out]  filled up to its struct_size, on success only; NULL: not wanted
 * Call: independent. Blocking: until all is done. Threads: any number of calls at once; they share nothing, but
 * peak_bytes and bytes_per_task are measured of the whole process.
 * Returns TW_OK, TW_ERR_INVALID, TW_ERR_NO_MEMORY, or the failure of the simulated tasks; TW_ERR_INTERNAL when
 * something else was read than was written. Since 0.1. */
TW_API tw_status tw_sim_multifile(int64_t tasks, int64_t tasks_per_process, int64_t bytes_per_file, uint64_t seed,
                                  const tw_multifile_config* config, tw_sim_report* report);

#ifdef __cplusplus
}
#endif
#endif
