// The ranks of the program: all on one machine, so that they share a clock, a page cache and folders.
//
// Ranks that wait here sleep: there are more of them than cores, and one that spins takes the time of those that work.
#ifndef BENCH_COLLECTIVE_RANKS_HPP
#define BENCH_COLLECTIVE_RANKS_HPP

#include <mpi.h>

#include <string>
#include <vector>

#include "support/clock.hpp"
#include "support/comparison.hpp"

namespace bench {

// Ends the program when a call of MPI failed. Errors come back from MPI_File_... by themselves.
void must_mpi(int result, const char* what);

// "MPICH 4.0.2"; for Open MPI with the part that does its I/O: "Open MPI 4.1.4 (OMPIO)".
std::string mpi_name();

class Ranks {
 public:
  Ranks();
  int rank() const { return rank_; }
  int size() const { return size_; }
  bool first() const { return rank_ == 0; }

  // Returns when all have called.
  void meet() const;
  double largest(double value) const;
  // What rank 0 gives.
  double told(double value) const;
  std::string told(const std::string& text) const;
  bool alone_on_machine() const;  // all ranks on one

  // Seconds from a moment that all ranks agree on to the end of the last one's work.
  template <class Work>
  double timed(Work&& work) const {
    const double start = agreed_start();
    work();
    return finished(start);
  }

 private:
  double agreed_start() const;
  double finished(double start) const;

  int rank_ = 0, size_ = 1;
};

// A comparison whose variants all ranks run together. Rank 0 decides what is run next, since the others have no say in
// how much time has passed; it alone has the results.
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
