// MpiTurn: whether this thread may call MPI now. Every call that the library makes stands in one.
//
//   MPI_THREAD_MULTIPLE    every thread may, at any time
//   MPI_THREAD_SERIALIZED  one at a time: one lock, which a program may share (tw_mpi_lock)
//   less                   only the main thread makes calls on groups of ranks, and needs no lock
//
// Who does not get its turn looks again later: nobody sleeps for it while he holds another lock. A program that holds
// it while it waits in MPI keeps our threads from MPI then, and from nothing else.
#pragma once

#include "base/status.hpp"

namespace thalweg {

class MpiTurn {
 public:
  struct Wait {};
  MpiTurn();               // if it can be had at once
  explicit MpiTurn(Wait);  // for calls that cannot be made later
  ~MpiTurn();
  MpiTurn(const MpiTurn&) = delete;
  MpiTurn& operator=(const MpiTurn&) = delete;
  bool is_mine() const { return mine_; }

 private:
  const bool locks_;
  bool mine_ = true;
};

// Before the first group is made: what MPI was initialised for. Operations are ended before MPI is (mpi_end.hpp).
Status mpi_begins();
// Whether any thread may advance the collectives of ranks: MPI allows it, or takes turns and so does the program.
bool mpi_from_any_thread();

// What tw_mpi_take_turns, tw_mpi_lock and tw_mpi_unlock do.
Status mpi_take_turns();
void mpi_lock();
void mpi_unlock();

}  // namespace thalweg
