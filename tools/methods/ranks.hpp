// The ranks of the program: who they are, where, and how they wait for each other.
//
// A rank that waits long sleeps: MPI's own waiting spins, and takes the core of the rank that works.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>

namespace methods {

// Communicators of its own, which return errors. Made and freed by all ranks, between MPI_Init and MPI_Finalize.
class Ranks {
 public:
  Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
  ~Ranks();

  MPI_Comm all() const { return all_; }
  int rank() const { return rank_; }
  int size() const { return size_; }
  bool first() const { return rank_ == 0; }

  int nodes() const { return nodes_; }
  int on_this_node() const { return node_size_; }
  // That the ranks of this node may run on, together: one that is bound has only its own.
  int cores_of_node() const { return node_cores_; }
  bool first_of_node() const { return node_rank_ == 0; }

  // The first half of the ranks, rounded up: those who restart. MPI_COMM_NULL on the others.
  MPI_Comm half() const { return half_; }
  int half_size() const { return (size_ + 1) / 2; }

  // Returns when all have called; asleep. For what may take long.
  void meet() const;
  // The same, and then awake, so that all go on at nearly the same moment.
  void start_together() const;

  double most(double value) const;
  std::int64_t most(std::int64_t value) const;
  std::int64_t sum(std::int64_t value) const;
  // What rank 0 gives.
  std::string told(const std::string& text) const;
  double told(double value) const;

 private:
  MPI_Comm all_ = MPI_COMM_NULL, half_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1, nodes_ = 1, node_rank_ = 0, node_size_ = 1, node_cores_ = 1;
};

}  // namespace methods
