// MpiTurn: the right of this thread to call MPI now. Every MPI call of the library is within a turn.
//
// MPI_THREAD_MULTIPLE    every thread may, at any time
// MPI_THREAD_SERIALIZED  one at a time: one lock, which a program may share (tw_mpi_lock)
// less                   only the main thread makes calls on groups of ranks, and needs no lock
//
// A thread that does not get its turn retries later: no thread sleeps for it while it holds another lock. A program
// that holds the lock while it waits in MPI blocks the library's MPI calls then, and nothing else.
#pragma once

#include <mutex>

#include "base/status.hpp"

namespace thalweg {

class MpiTurn {
 public:
  MpiTurn();                             // waits; for calls that cannot be postponed
  explicit MpiTurn(std::try_to_lock_t);  // takes the turn only if it is free
  ~MpiTurn();
  MpiTurn(const MpiTurn&) = delete;
  MpiTurn& operator=(const MpiTurn&) = delete;
  bool is_mine() const { return mine_; }

 private:
  const bool locks_;
  bool mine_ = true;
};

// Before the first group is made: reads the thread level of MPI, and arranges that operations end before MPI
// (mpi_end.hpp).
Status mpi_begins();
// Whether any thread may advance collectives of ranks: at MPI_THREAD_MULTIPLE, or with turns shared by the program.
bool mpi_from_any_thread();

// Implement tw_mpi_take_turns, tw_mpi_lock and tw_mpi_unlock.
Status mpi_take_turns();
void mpi_lock();
void mpi_unlock();

}  // namespace thalweg
