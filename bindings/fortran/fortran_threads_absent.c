/* A library that was built without OpenMP. */
#include "thalweg_fortran.h"

tw_status tw_f_group_threads(const void* comm, tw_group** group) {
  (void)comm;
  (void)group;
  return tw_f_fail(TW_ERR_NOT_BUILT, "threads=.true. is given, but the library was built without OpenMP");
}
