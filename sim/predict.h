/* Predictions: what an access would take on a larger machine, found by simulating it. Link libthalweg_sim. C11 and C++.
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

/* A machine. Zero-initialise, set struct_size, then what is known: a member that is 0 has its default, which is of the
 * order of a cluster of today. Times in nanoseconds, at most 1e12. */
typedef struct tw_sim_machine {
  size_t struct_size;
  int64_t tasks_per_node; /* neighbours in rank, 1 .. 2^20; default 64 */
  double send_ns;         /* of a core, for each message, on either side; default 300 */
  double node_latency_ns; /* of a message within a node; default 500 */
  double node_byte_ns;    /* of a byte within a node, each process; default 0.1 */
  double latency_ns;      /* of a message between nodes; default 1500 */
  double byte_ns;         /* of a byte between nodes, all processes of a node together, in either direction; default
                             0.08 */
  int64_t servers;        /* of the storage, 1 .. 1024; a file is striped over all of them; default 16 */
  int64_t stripe_bytes;   /* to a server, then to the next one; also what a lock of a file covers; 4096 .. 2^30; default
                             1 MiB */
  double request_ns;      /* to storage and back; default 50000 */
  double server_ns;       /* of a server, for each operation; default 20000 */
  double server_byte_ns;  /* of a server, for each byte; default 0.5 */
  double handover_ns;     /* of a lock from one node to another; default 200000 */
  double open_ns;         /* of the metadata server, to open a file; all take turns at it; default 10000 */
  double create_ns;       /* the same to make one; default 50000 */
} tw_sim_machine;

typedef int32_t tw_sim_way;
enum {
  TW_SIM_COLLECTIVE = 0,  /* one shared file, by two-phase I/O with an aggregator for each server */
  TW_SIM_INDEPENDENT = 1, /* one shared file, each task on its own, a call for each piece */
  TW_SIM_MULTIFILE = 2,   /* a multifile, a logical file of each task */
  TW_SIM_FILE_PER_TASK = 3,
  TW_SIM_GATHER = 4 /* task 0 moves the bytes of all */
};

/* What all tasks do. Zero-initialise, then set struct_size. More than a limit is TW_ERR_INVALID; tw_last_error() names
 * the member. */
typedef struct tw_sim_access {
  size_t struct_size;
  tw_sim_way way;
  tw_direction direction;
  int64_t tasks;             /* 1 .. 2^20 */
  int64_t tasks_per_process; /* threads of one process, neighbours in rank; must divide tasks_per_node of the machine;
                                default 1 */
  int64_t pieces;            /* of each task, 1 .. 2^20; of all tasks together at most 2^24 */
  int64_t piece_bytes;       /* 1 .. 64 MiB; all pieces of a task at most 64 MiB, of all tasks at most 16 GiB, in a
                                multifile at most 1 GiB */
  int64_t in_turn;           /* so many neighbours in rank have their pieces in turn in a shared file, those of the next
                                ones lie behind; 0: all */
} tw_sim_access;

/* Seconds of the simulated machine: from the first task's begin to the last one's end. */
typedef struct tw_sim_prediction {
  size_t struct_size; /* set before the call */
  double open_seconds, transfer_seconds, close_seconds;
} tw_sim_prediction;

/* Predicts what an access takes: the engine runs on simulated tasks with virtual clocks, network and storage are models
 * (docs/design/simulation.md says what they leave out). Copying and computing of the tasks take no time there. Files of
 * tasks and the gather are models of a few lines.
 * machine           NULL: all defaults. Borrowed during the call, as `access` is
 * prediction [out]  filled up to its struct_size, on success only
 * Memory, about: what one task moves; 20 to 30 KiB for each task, 60 KiB where it reads a multifile, 2 KiB with a file
 * of its own or a gather; of a shared file 40 bytes for each piece, and what aggregators fill, 2 GiB at most; all bytes
 * of a multifile. So a million tasks may need 20 to 60 GiB.
 * Call: independent. Blocking: a second for 10000 tasks with a piece each; minutes at the limits of tasks or pieces.
 * Threads: any number of calls at once; they share nothing.
 * Returns TW_OK, TW_ERR_INVALID, TW_ERR_NO_MEMORY, or the failure of the simulated tasks. Since 0.1. */
tw_status tw_sim_predict(const tw_sim_machine* machine, const tw_sim_access* access, tw_sim_prediction* prediction);

#ifdef __cplusplus
}
#endif
#endif
