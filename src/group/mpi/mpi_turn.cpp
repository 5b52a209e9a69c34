#include "group/mpi/mpi_turn.hpp"

#include <mpi.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string_view>

#include "group/mpi/mpi_end.hpp"
#include "os/end_program.hpp"
#include "os/wait.hpp"

namespace thalweg {

namespace {

// Recursive: a program may call the library between tw_mpi_lock and tw_mpi_unlock.
struct Turns {
  std::recursive_mutex lock;
  std::atomic<int> wanted{0};  // number of threads that poll for the lock; only a hint
  std::atomic<int> level{MPI_THREAD_SINGLE};
  std::atomic<bool> promised{false};
};

Turns& turns() {
  static auto* all = new Turns;  // never destroyed: threads may outlive main()
  return *all;
}

void end_all_ranks() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized == 0 && !mpi_ended()) MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

bool is_promised_outside() {
  static const bool promised = [] {
    const char* const text = std::getenv("THALWEG_MPI_TURNS");
    return text != nullptr && std::string_view(text) == "1";
  }();
  return promised;
}

}  // namespace

MpiTurn::MpiTurn() : locks_(turns().level.load(std::memory_order_relaxed) == MPI_THREAD_SERIALIZED) {
  if (!locks_) return;
  mine_ = turns().lock.try_lock();
  if (!mine_) turns().wanted.store(1, std::memory_order_relaxed);
}

MpiTurn::MpiTurn(Wait) : locks_(turns().level.load(std::memory_order_relaxed) == MPI_THREAD_SERIALIZED) {
  if (locks_) turns().lock.lock();
}

MpiTurn::~MpiTurn() {
  if (locks_ && mine_) turns().lock.unlock();
}

Status mpi_begins() {
  static std::once_flag once;
  static int error = MPI_SUCCESS;
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  turns().level.store(level, std::memory_order_relaxed);
  const MpiTurn turn(MpiTurn::Wait{});  // taken before `once`: the holder of the turn may come here, too
  std::call_once(once, [] {
    error = hear_of_mpi_end();
    set_end_of_others(end_all_ranks);
  });
  if (error == MPI_SUCCESS) return {};
  return Status::error(Code::io_error, "cannot set an attribute of MPI_COMM_SELF, which reports the end of MPI");
}

bool mpi_from_any_thread() {
  const int level = turns().level.load(std::memory_order_relaxed);
  if (level == MPI_THREAD_MULTIPLE) return true;
  return level == MPI_THREAD_SERIALIZED && (turns().promised.load(std::memory_order_relaxed) || is_promised_outside());
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
  turns().promised.store(true, std::memory_order_relaxed);
  return {};
}

void mpi_lock() {
  if (turns().wanted.exchange(0, std::memory_order_relaxed) != 0) yield_core();
  turns().lock.lock();
}

void mpi_unlock() { turns().lock.unlock(); }

}  // namespace thalweg
