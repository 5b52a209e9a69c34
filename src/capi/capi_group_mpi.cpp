// group_mpi.h: groups of MPI ranks. Part of libthalweg_mpi.
//
// mpi.h comes through group_mpi.h only (scripts/check_layers.py).
#include <memory>
#include <utility>

#include "capi/handles.hpp"
#include "group/mpi/mpi_group.hpp"
#include "group/mpi/mpi_turn.hpp"
#include "thalweg/group_mpi.h"

using namespace thalweg;

extern "C" {

tw_status tw_group_mpi(MPI_Comm comm, tw_group** group) {
  return guarded([&]() -> Status {
    if (group == nullptr) return null_argument("tw_group_mpi", "group");
    call_of_thread = {Call::tw_group_mpi, true};
    TW_ASSIGN_OR_RETURN(std::unique_ptr<Group> made, make_mpi_group(comm));
    *group = new tw_group{std::move(made)};
    return {};
  });
}

// The conversion needs a running MPI in some implementations; make_mpi_group reports when there is none.
tw_status tw_group_mpi_f(MPI_Fint comm, tw_group** group) {
  int initialized = 0;
  MPI_Initialized(&initialized);
  MPI_Comm of_c = MPI_COMM_WORLD;
  if (initialized != 0) {
    const thalweg::MpiTurn turn;
    of_c = MPI_Comm_f2c(comm);
  }
  return tw_group_mpi(of_c, group);
}

tw_status tw_mpi_take_turns(void) {
  return guarded([] { return mpi_take_turns(); });
}

void tw_mpi_lock(void) { mpi_lock(); }
void tw_mpi_unlock(void) { mpi_unlock(); }

}  // extern "C"
