#include "group/mpi/mpi_turn.hpp"

#include <mpi.h>

#include <atomic>
#include <cstdlib>
#include <mutex>

#include "group/mpi/mpi_end.hpp"
#include "os/end_program.hpp"
#include "os/environment.hpp"
#include "os/wait.hpp"

namespace thalweg {

namespace {

// Recursive: a program may call the library between tw_mpi_lock and tw_mpi_unlock.
std::recursive_mutex& turn_lock() {
  static auto* lock = new std::recursive_mutex;  // never destroyed: threads may outlive main()
  return *lock;
}
std::atomic<int> n_wanted{0};  // threads that poll for the lock; only a hint
std::atomic<int> thread_level{MPI_THREAD_SINGLE};
std::atomic<bool> turns_promised{false};

void end_all_ranks() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized == 0 && !mpi_ended()) MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

bool is_promised_outside() {
  static const bool promised = environment("THALWEG_MPI_TURNS") == "1";
  return promised;
}

}  // namespace

MpiTurn::MpiTurn(std::try_to_lock_t) : locks_(thread_level.load(std::memory_order_relaxed) == MPI_THREAD_SERIALIZED) {
  if (!locks_) return;
  mine_ = turn_lock().try_lock();
  if (!mine_) n_wanted.store(1, std::memory_order_relaxed);
}

MpiTurn::MpiTurn() : locks_(thread_level.load(std::memory_order_relaxed) == MPI_THREAD_SERIALIZED) {
  if (locks_) turn_lock().lock();
}

MpiTurn::~MpiTurn() {
  if (locks_ && mine_) turn_lock().unlock();
}

Status mpi_begins() {
  static std::once_flag once;
  static int error = MPI_SUCCESS;
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  thread_level.store(level, std::memory_order_relaxed);
  const MpiTurn turn;  // taken before `once`: the holder of the turn may come here, too
  std::call_once(once, [] {
    error = hear_of_mpi_end();
    set_end_of_others(end_all_ranks);
  });
  if (error == MPI_SUCCESS) return {};
  return Status::error(Code::io_error, "cannot set an attribute of MPI_COMM_SELF, which reports the end of MPI");
}

bool mpi_from_any_thread() {
  const int level = thread_level.load(std::memory_order_relaxed);
  if (level == MPI_THREAD_MULTIPLE) return true;
  return level == MPI_THREAD_SERIALIZED && (turns_promised.load(std::memory_order_relaxed) || is_promised_outside());
}

Status mpi_take_turns() {
  int initialized = 0;
  int level = MPI_THREAD_SERIALIZED;
  MPI_Initialized(&initialized);
  if (initialized != 0 && !mpi_ended()) MPI_Query_thread(&level);
  if (level < MPI_THREAD_SERIALIZED)
    return Status::error(Code::invalid_argument,
                         "MPI was initialised for use by its main thread only: threads can take turns where it is "
                         "initialised with MPI_THREAD_SERIALIZED");
  turns_promised.store(true, std::memory_order_relaxed);
  return {};
}

void mpi_lock() {
  if (n_wanted.exchange(0, std::memory_order_relaxed) != 0) yield_core();
  turn_lock().lock();
}

void mpi_unlock() { turn_lock().unlock(); }

}  // namespace thalweg
