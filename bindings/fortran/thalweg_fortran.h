/* Declarations for the C sources of module thalweg. The structs equal those of thalweg_c.f90. */
#ifndef THALWEG_FORTRAN_H
#define THALWEG_FORTRAN_H

#include <ISO_Fortran_binding.h>
#include <thalweg/thalweg.h>

/* An actual argument of any type and rank. */
typedef struct tw_f_memory {
  void* address;
  int64_t nbytes;
  int64_t item_bytes;
  int64_t rank;
  int64_t extents[15];
  const char* problem; /* static text: it cannot be moved; NULL: none */
} tw_f_memory;

/* The part of an array that a task has. Indices begin at 1. */
typedef struct tw_f_part {
  int64_t n_global, n_first, n_halo; /* lengths of the lists */
  const int64_t* global;
  const int64_t* first;
  const int64_t* halo; /* NULL: none */
} tw_f_part;

TW_API tw_status tw_f_fail(tw_status status, const char* message);
TW_API void tw_f_describe(const CFI_cdesc_t* data, tw_f_memory* memory);
TW_API tw_status tw_f_check(const tw_f_memory* memory);
TW_API tw_status tw_f_open_group(const void* comm, int32_t threads, tw_group** group);
TW_API tw_status tw_f_access(tw_file* file, const tw_f_memory* memory, int32_t writes, int32_t placement,
                             int32_t collective, int64_t offset, size_t* moved, tw_request** request);
TW_API tw_status tw_f_array(tw_file* file, const tw_f_memory* memory, int32_t writes, const tw_f_part* part,
                            int64_t offset, size_t* moved, tw_request** request);
TW_API tw_status tw_f_all_vps(tw_vpfile* vpfile, const tw_f_memory* memory, int32_t writes, const int64_t* n_each,
                              const uint8_t* mask, int64_t* counts);

/* fortran_mpi.c, or fortran_mpi_absent.c in the library without MPI. `comm`: a communicator of Fortran, which is an
 * integer, also inside of type(MPI_Comm). */
tw_status tw_f_group_mpi(const void* comm, tw_group** group);
/* fortran_threads.c, or fortran_threads_absent.c without OpenMP: all threads of the innermost parallel region; with
 * `comm` those of all ranks. */
tw_status tw_f_group_threads(const void* comm, tw_group** group);

#endif
