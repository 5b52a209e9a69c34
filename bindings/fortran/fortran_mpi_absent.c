/* The library thalweg_fortran has no MPI; thalweg_fortran_mpi has. */
#include "thalweg_fortran.h"

tw_status tw_f_group_mpi(const void* comm, tw_group** group) {
  (void)comm;
  (void)group;
  return tw_f_fail(TW_ERR_NOT_BUILT,
                   "comm is given, but the program is linked without MPI: link thalweg_fortran_mpi "
                   "(CMake: thalweg::fortran_mpi) in place of thalweg_fortran");
}
