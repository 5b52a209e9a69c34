// Two steps. If the program's call of MPI_Finalize reaches the wrapper below, operations are completed before any
// part of MPI ends. The second step covers calls that bypass it (MPI was loaded or linked first, or a tool before it;
// Open MPI's Fortran): an attribute of MPI_COMM_SELF is deleted, which MPI does before all else (MPI 4.1, 11.2.4).
// For MPICH the second step alone is too late: its locks are off by then, so that a progress thread within a call
// leaves one locked, and MPICH aborts.
#include "group/mpi/mpi_end.hpp"

#include <dlfcn.h>
#include <mpi.h>

#include <atomic>

#include "async/callers.hpp"
#include "group/mpi/mpi_fold.hpp"

namespace thalweg {

namespace {

std::atomic<bool> ended{false};

int before_mpi_ends(MPI_Comm, int, void*, void*) {
  transport_ends([] {
    free_left_folds(true);
    ended.store(true, std::memory_order_release);
  });
  return MPI_SUCCESS;
}

// A function of its own: libthalweg_mpiio may not refer to the address of one of MPI.
int copy_nothing(MPI_Comm, int, void*, void*, void*, int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}

// Calls the next MPI_Finalize in lookup order: a tool's, or that of MPI.
int next_finalize() {
  void* const next = ::dlsym(RTLD_NEXT, "MPI_Finalize");
  return next != nullptr ? reinterpret_cast<int (*)()>(next)() : PMPI_Finalize();
}

}  // namespace

int hear_of_mpi_end() {
  int key = MPI_KEYVAL_INVALID;
  int error = MPI_Comm_create_keyval(copy_nothing, before_mpi_ends, &key, nullptr);
  if (error == MPI_SUCCESS) error = MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
  if (error == MPI_SUCCESS) MPI_Comm_free_keyval(&key);  // released when the attribute is deleted
  return error;
}

bool mpi_ended() { return ended.load(std::memory_order_acquire); }

Status mpi_is_gone() { return Status::error(Code::invalid_argument, "MPI is finalised: no group can use it any more"); }

}  // namespace thalweg

// Wrapper by the profiling interface (MPI 4.1, 15.2). Weak: a tool may be linked into the same program.
extern "C" [[gnu::weak, gnu::visibility("default")]] int MPI_Finalize() {
  thalweg::transport_ends([] { thalweg::free_left_folds(true); });
  return thalweg::next_finalize();
}
