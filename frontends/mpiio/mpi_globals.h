/* Included before everything else where this library is compiled for Open MPI, whose predefined handles are addresses of
 * variables: a reference to one would have to be bound when this library is loaded, also into a launcher or a shell
 * that has no MPI. */
#ifndef THALWEG_MPIIO_MPI_GLOBALS_H
#define THALWEG_MPIIO_MPI_GLOBALS_H

#include <mpi.h>

extern "C" void* tw_mpiio_global(const char* name);

#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global)               \
  (static_cast<type>([] {                                  \
    static void* const address = tw_mpiio_global(#global); \
    return address;                                        \
  }()))

#endif
