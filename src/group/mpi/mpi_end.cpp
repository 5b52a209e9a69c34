// Two steps. Where the program's call of MPI_Finalize finds ours, operations are completed before anything of MPI ends.
// Then, or where it does not find ours (MPI was loaded or named first, or a tool before it; Open MPI's Fortran), the
// deletion of an attribute tells of the end: what is attached to MPI_COMM_SELF is deleted before MPI loses anything
// (MPI 4.1, 11.2.4). For MPICH that alone is too late: it has switched off its locks by then, so that a progress thread
// which is in a call at that moment leaves one locked, and MPICH aborts.
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

using Finalize = int (*)();

// The one that would have been called without ours: a tool's, or that of MPI.
Finalize next_finalize() {
  void* const next = ::dlsym(RTLD_NEXT, "MPI_Finalize");
  return next != nullptr ? reinterpret_cast<Finalize>(next) : PMPI_Finalize;
}

}  // namespace

int hear_of_mpi_end() {
  int key = MPI_KEYVAL_INVALID;
  int error = MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, before_mpi_ends, &key, nullptr);
  if (error == MPI_SUCCESS) error = MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
  if (error == MPI_SUCCESS) MPI_Comm_free_keyval(&key);  // goes when the attribute does
  return error;
}

bool mpi_ended() { return ended.load(std::memory_order_acquire); }

Status mpi_is_gone() { return Status::error(Code::invalid_argument, "MPI is finalised: no group can use it any more"); }

}  // namespace thalweg

// By the profiling interface (MPI 4.1, 15.2). Weak: a tool may be linked into the same program.
extern "C" [[gnu::weak, gnu::visibility("default")]] int MPI_Finalize() {
  thalweg::transport_ends([] { thalweg::free_left_folds(true); });
  return thalweg::next_finalize()();
}
