// The ranks of the program: numbers, nodes, and barriers; and what the MPI library tells about itself.
//
// A rank that waits long sleeps: MPI's own wait spins, and takes the core of a working rank.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <string>
#include <thalweg/base.hpp>

namespace probe {

// Some ranks: MPI_COMM_NULL on the others. The group is made once, as by a program that writes more than once.
struct Part {
  MPI_Comm comm = MPI_COMM_NULL;
  std::optional<thalweg::Group> group;
};

// Communicators of the program, which return errors. Constructor and destructor are collective, between MPI_Init and
// MPI_Finalize. Where ranks share cores, waiting ones yield from now on, if the MPI permits it.
class Ranks {
 public:
  Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
  ~Ranks();

  const Part& all() const { return all_; }
  int rank() const { return rank_; }
  int size() const { return size_; }
  bool first() const { return rank_ == 0; }

  int nodes() const { return nodes_; }
  // Whether the ranks of this node share cores, so that waiting ones yield.
  bool yields() const { return yields_; }
  bool first_of_node() const { return node_rank_ == 0; }

  // The first half of the ranks, rounded up: the readers of a restart.
  const Part& half() const { return half_; }
  int half_size() const { return (size_ + 1) / 2; }
  // Rank 0 alone.
  const Part& one() const { return one_; }

  // A sleeping barrier, for long waits.
  void meet() const;
  // A sleeping barrier followed by a spinning one, so that all ranks continue at nearly the same time.
  void start_together() const;
  // The largest value of all ranks.
  double most(double value) const;

 private:
  Part all_, half_, one_;
  int rank_ = 0, size_ = 1, nodes_ = 1, node_rank_ = 0;
  bool yields_ = false;
};

// Throws Failed unless `code` is MPI_SUCCESS. "WHAT: error text".
void must_mpi(int code, const std::string& what);

// "MPICH Version: 4.0.2", "Open MPI v4.1.4": the library's version text, cut to a name. May be called before MPI_Init.
std::string mpi_name();

}  // namespace probe
