// Two steps. If the program's call of MPI_Finalize reaches the wrapper below, the library's threads stop calling MPI: MPICH
// has turned its locks off when the second step comes, so that a thread within a call would leave one locked, and MPICH
// aborts. Calls may bypass the wrapper (MPI was loaded or linked first, or a tool before it; Open MPI's Fortran).
// In the second step an attribute of MPI_COMM_SELF is deleted, which MPI does before all else and in the reverse order of
// setting (MPI 4.1, 11.2.4): operations are completed, and no further ones can start. Until then others that hear of the
// end in the same way, and set their attribute later, may use their files.
#include "group/mpi/mpi_end.hpp"

#include <dlfcn.h>
#include <mpi.h>

#include <atomic>

#include "async/callers.hpp"
#include "group/mpi/mpi_fold.hpp"

namespace thalweg {

namespace {

std::atomic<bool> set{false};  // the attribute
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

// Calls the next function of that name in lookup order: a tool's, or that of MPI.
int finalize_by_next(const char* name) {
  if (set.load(std::memory_order_acquire)) transport_ends_soon();
  void* const next = ::dlsym(RTLD_NEXT, name);
  return next != nullptr ? reinterpret_cast<int (*)()>(next)() : PMPI_Finalize();
}

}  // namespace

int hear_of_mpi_end() {
  int key = MPI_KEYVAL_INVALID;
  int error = MPI_Comm_create_keyval(copy_nothing, before_mpi_ends, &key, nullptr);
  if (error == MPI_SUCCESS) error = MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
  if (error == MPI_SUCCESS) MPI_Comm_free_keyval(&key);  // released when the attribute is deleted
  set.store(error == MPI_SUCCESS, std::memory_order_release);
  return error;
}

bool mpi_ended() { return ended.load(std::memory_order_acquire); }

Status mpi_is_gone() { return Status::error(Code::invalid_argument, "MPI is finalised: no group can use it any more"); }

}  // namespace thalweg

// Wrapper by the profiling interface (MPI 4.1, 15.2). Weak: a tool may be linked into the same program.
extern "C" [[gnu::weak, gnu::visibility("default")]] int MPI_Finalize() {
  return thalweg::finalize_by_next("MPI_Finalize");
}

#ifdef TW_MPIIO_FAMILY  // the objects of libthalweg_mpiio, which defines both names: MPICH's mpi_f08 calls this one
extern "C" [[gnu::visibility("default")]] int PMPI_Finalize() { return thalweg::finalize_by_next("PMPI_Finalize"); }
#endif
