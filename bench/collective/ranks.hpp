// The ranks of the program: all on one machine, so that they share a clock and folders. Nodes are emulated on it.
//
// Waiting ranks sleep: there are more ranks than cores, and a spinning one takes time from working ones.
#ifndef BENCH_COLLECTIVE_RANKS_HPP
#define BENCH_COLLECTIVE_RANKS_HPP

#include <mpi.h>

#include <string>
#include <vector>

#include "support/clock.hpp"
#include "support/comparison.hpp"

namespace bench {

// Ends the program when an MPI call failed. Errors of MPI_File_... are returned by default.
void must_mpi(int result, const char* what);

// "MPICH 4.0.2"; for Open MPI with its I/O component: "Open MPI 4.1.4 (OMPIO)".
std::string mpi_name();

// Bytes and packets that the device eth0 of a node has sent.
struct Traffic {
  double bytes = 0, packets = 0;  // a packet has up to 64 KiB
};

class Ranks {
 public:
  Ranks();
  int rank() const { return rank_; }
  int size() const { return size_; }
  bool first() const { return rank_ == 0; }

  // A barrier.
  void meet() const;
  double largest(double value) const;
  // Returns rank 0's value.
  double told(double value) const;
  std::string told(const std::string& text) const;
  int nodes() const { return nodes_; }
  // Collective. What all nodes have sent in each timed part since the last call.
  std::vector<Traffic> take_traffic() const;

  // Seconds from a common start to the end of the last rank's work.
  template <class Work>
  double timed(Work&& work) const {
    const double start = agreed_start();
    work();
    return finished(start);
  }

 private:
  double agreed_start() const;
  double finished(double start) const;

  int rank_ = 0, size_ = 1, nodes_ = 1;
  bool leads_node_ = false;
  mutable Traffic before_;
  mutable std::vector<Traffic> traffic_;  // in timed parts; empty on one node
};

// A comparison whose variants all ranks run together. Rank 0 chooses the next variant, as the elapsed time may differ
// between ranks, and holds the results.
class Together {
 public:
  Together(const Ranks& ranks, const std::string& name, Amount amount, std::vector<std::string> phases);
  void add(const std::string& variant, const Comparison::Run& run);
  void run(const Plan& plan);
  Comparison& results() { return comparison_; }
  std::size_t variants() const { return runs_.size(); }

 private:
  const Ranks& ranks_;
  Comparison comparison_;
  std::vector<Comparison::Run> runs_;
};

}  // namespace bench

#endif
