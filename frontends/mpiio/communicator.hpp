// Communicator: what this library keeps of a communicator that files were opened with, as an attribute of it, so that
// the next open needs no duplicate.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "mpiio/failure.hpp"
#include "thalweg/group.h"

namespace thalweg::mpiio {

// Numbers that the ranks of a communicator share: each rank adds to them alone. Rank 0 holds them in a window of MPI,
// which is memory of all ranks where these are on one node.
// A value is never set while ranks may use it: a shared pointer has two, and a collective call that resets the pointer
// changes to the other one, which rank 0 has cleared since all ranks left it.
class SharedNumbers {
 public:
  static constexpr int kNumbers = 192;

  SharedNumbers(MPI_Comm ranks, int rank);
  ~SharedNumbers();
  SharedNumbers(const SharedNumbers&) = delete;
  SharedNumbers& operator=(const SharedNumbers&) = delete;

  std::int64_t fetch_and_add(int number, std::int64_t amount);
  void clear(int number);

  // Passes a turn from rank to rank, in their order, in round after round. What a rank does before it gives the turn
  // happens before what the next one does. Where the numbers are no memory of this rank the turn is a message.
  void await_turn(int number, std::int64_t round);
  void give_turn(int number, std::int64_t round);
  // Returns when all ranks, which are those of `group`, have given the turn of this round.
  void await_round(int number, std::int64_t round, tw_group* group);

  // The first of kOfFile numbers that no open file has; -1: none is left.
  static constexpr int kOfFile = 3;
  int first_free() const;
  void take(int first) { taken_[static_cast<std::size_t>(first / kOfFile)] = true; }
  void give_back(int first) { taken_[static_cast<std::size_t>(first / kOfFile)] = false; }

 private:
  void await(int number, std::int64_t least);
  std::int64_t apply(int number, std::int64_t amount, MPI_Op operation);
  std::atomic_ref<std::int64_t> at(int number) { return std::atomic_ref(memory_[number]); }

  MPI_Comm ranks_;
  int rank_;
  int size_ = 1;
  MPI_Win window_ = MPI_WIN_NULL;
  std::int64_t* memory_ = nullptr;  // the numbers; null where this rank cannot address them
  std::array<std::atomic<bool>, kNumbers / kOfFile> taken_{};
};

struct Communicator {
  MPI_Comm ranks = MPI_COMM_NULL;  // a duplicate, for messages of this library
  tw_group* group = nullptr;
  int rank = 0;
  int size = 1;
  int reports = 0;  // not 0: some rank wants reports
  int threads = 0;  // not 0: threads of some rank may make calls at the same time
  std::vector<std::unique_ptr<SharedNumbers>> numbers;

  Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  ~Communicator() { release(); }

  // Frees what MPI has of it. Collective; nothing where MPI has ended.
  void release();
};

// What is kept of `given`, made at the first call. Collective.
std::shared_ptr<Communicator> communicator_of(MPI_Comm given, Failure& failure);

// From now on files are named that are open when MPI ends, and what is kept is freed then. Libraries that close their files
// at that time (HDF5) can do so where this was called before they set their attributes of MPI_COMM_SELF.
void watch_the_end();

// The program asked for MPI_THREAD_MULTIPLE.
void threads_may_call();

// The place of a shared pointer in its communicator.
struct SharedSlot {
  SharedNumbers* numbers = nullptr;
  int first = -1;
};

// A slot that no open file has, the same on all ranks: opens and closes are collective. Where threads may make calls, ranks
// may differ in which closes have ended, and rank 0 tells the others by `group`, which is the file's own. Collective.
Failure take_slot(Communicator& communicator, tw_group* group, SharedSlot& slot);

}  // namespace thalweg::mpiio
