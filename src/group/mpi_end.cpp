// Two ways to hear of the end. Where the program's call of MPI_Finalize finds ours, nothing of MPI has ended yet. Where
// it does not, because a tool took the call or MPI was loaded first, the deletion of an attribute tells: what is
// attached to MPI_COMM_SELF is deleted before MPI loses anything (MPI 4.1, 11.2.4). MPICH has switched off its locks by
// then, so that a progress thread which is in a call at that moment leaves one locked, and MPICH aborts.
#include "group/mpi_end.hpp"

#include <mpi.h>

#include <atomic>

#include "group/callers.hpp"

namespace thalweg {

namespace {

std::atomic<bool> ended{false};

void end_ours() {
  transport_ends([] { ended.store(true, std::memory_order_release); });
}

int before_mpi_ends(MPI_Comm, int, void*, void*) {
  end_ours();
  return MPI_SUCCESS;
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

// Of the profiling interface (MPI 4.1, 15.2). Weak: a tool's own comes first, also where all is linked statically.
extern "C" [[gnu::weak, gnu::visibility("default")]] int MPI_Finalize() {
  thalweg::end_ours();
  return PMPI_Finalize();
}
