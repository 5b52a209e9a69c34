// The ranks of the program: numbers, nodes, and barriers.
//
// A rank that waits long sleeps: MPI's own wait spins, and takes the core of a working rank.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>

namespace probe {

// Communicators of the program, which return errors. Constructor and destructor are collective, between MPI_Init and
// MPI_Finalize.
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
  // Cores that the ranks of this node may use together: a bound rank has its own only.
  int cores_of_node() const { return node_cores_; }
  bool first_of_node() const { return node_rank_ == 0; }

  // The first half of the ranks, rounded up: the readers of a restart. MPI_COMM_NULL on the others.
  MPI_Comm half() const { return half_; }
  int half_size() const { return (size_ + 1) / 2; }

  // A sleeping barrier, for long waits.
  void meet() const;
  // A sleeping barrier followed by a spinning one, so that all ranks continue at nearly the same time.
  void start_together() const;

  double most(double value) const;
  std::int64_t most(std::int64_t value) const;
  std::int64_t sum(std::int64_t value) const;
  // Returns rank 0's text.
  std::string told(const std::string& text) const;

 private:
  MPI_Comm all_ = MPI_COMM_NULL, half_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1, nodes_ = 1, node_rank_ = 0, node_size_ = 1, node_cores_ = 1;
};

}  // namespace probe
