/* Groups of MPI ranks for module thalweg. */
#include <thalweg/group_mpi.h>

#include "thalweg_fortran.h"

tw_status tw_f_group_mpi(const void* comm, tw_group** group) { return tw_group_mpi_f(*(const MPI_Fint*)comm, group); }
