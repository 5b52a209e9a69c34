/* Predictions: simulates an access on a larger machine. Link libthalweg_sim. C11 and C++.
 */
#ifndef THALWEG_SIM_PREDICT_H
#define THALWEG_SIM_PREDICT_H

#include <stddef.h>
#include <stdint.h>

#include "thalweg/file.h"
#include "thalweg/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A machine. Zero-initialise, set struct_size, then the known members; 0 selects the default, a value typical of a
 * current cluster. Times in nanoseconds, at most 1e12. */
typedef struct tw_sim_machine {
  size_t struct_size;
  int64_t tasks_per_node; /* consecutive ranks on one node, 1 .. 2^20; default 64 */
  double send_ns;         /* processor time per message, sending or receiving; default 300 */
  double node_latency_ns; /* latency within a node; default 500 */
  double node_byte_ns;    /* per byte within a node, for each process; default 0.1 */
  double latency_ns;      /* latency between nodes; default 1500 */
  double byte_ns;         /* of a byte between nodes, all processes of a node together, in either direction; default
                             0.08 */
  int64_t servers;        /* storage servers, 1 .. 1024; a file is striped over all of them; default 16 */
  int64_t stripe_bytes;   /* to a server, then to the next one; also what a lock of a file covers; 4096 .. 2^30; default
                             1 MiB */
  double request_ns;      /* round trip to storage; default 50000 */
  double server_ns;       /* server time per operation; default 20000 */
  double server_byte_ns;  /* server time per byte; default 0.5 */
  double handover_ns;     /* transfer of a lock between nodes; default 200000 */
  double open_ns;         /* metadata server time to open a file, serialised; default 10000 */
  double create_ns;       /* metadata server time to create a file; default 50000 */
} tw_sim_machine;

typedef int32_t tw_sim_way;
enum {
  TW_SIM_COLLECTIVE = 0,  /* one shared file, two-phase I/O with one aggregator per server */
  TW_SIM_INDEPENDENT = 1, /* one shared file, independent, one call per piece */
  TW_SIM_MULTIFILE = 2,   /* a multifile, one logical file per task */
  TW_SIM_FILE_PER_TASK = 3,
  TW_SIM_GATHER = 4 /* task 0 transfers the bytes of all tasks */
};

/* The access of all tasks. Zero-initialise, then set struct_size. A value beyond its limit is TW_ERR_INVALID;
 * tw_last_error() names the member. */
typedef struct tw_sim_access {
  size_t struct_size;
  tw_sim_way way;
  tw_direction direction;
  int64_t tasks;             /* 1 .. 2^20 */
  int64_t tasks_per_process; /* threads of one process, neighbours in rank; must divide tasks_per_node of the machine;
                                default 1 */
  int64_t pieces;            /* per task, 1 .. 2^20; at most 2^24 in total */
  int64_t piece_bytes;       /* 1 .. 64 MiB; all pieces of a task at most 64 MiB, of all tasks at most 16 GiB, in a
                                multifile at most 1 GiB */
  int64_t in_turn;           /* so many neighbours in rank have their pieces in turn in a shared file, those of the next
                                ones lie behind; 0: all */
} tw_sim_access;

/* Result, in seconds of the simulated machine from the first task's start to the last task's end. */
typedef struct tw_sim_prediction {
  size_t struct_size; /* set before the call */
  double open_seconds, transfer_seconds, close_seconds;
} tw_sim_prediction;

/* Predicts the time of an access: the engine runs on simulated tasks with virtual clocks; network and storage are
 * models (docs/design/simulation.md lists their limits). Copies and computations of tasks take no time. Separate files
 * and the gather use simplified models.
 * machine           NULL: all defaults. Borrowed during the call, like `access`
 * prediction [out]  filled up to its struct_size, on success only
 * Memory: the data of one task; 20 to 30 KiB per task, 60 KiB when reading a multifile, 2 KiB with separate files or a
 * gather; for a shared file 40 bytes per piece and the buffers of the aggregators, at most 2 GiB; for a multifile all
 * its bytes. A million tasks may need 20 to 60 GiB.
 * Call: independent. Blocking: one second for 10000 tasks with one piece each; minutes at the limits of tasks or
 * pieces.
 * Threads: any number of concurrent calls; they share no state.
 * Returns TW_OK, TW_ERR_INVALID, TW_ERR_NO_MEMORY, or the failure of the simulated tasks. Since 0.1. */
tw_status tw_sim_predict(const tw_sim_machine* machine, const tw_sim_access* access, tw_sim_prediction* prediction);

#ifdef __cplusplus
}
#endif
#endif
