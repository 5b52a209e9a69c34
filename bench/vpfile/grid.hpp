// A shape of virtual processors with some doubles each, and the ways of writing and reading all of them.
#ifndef BENCH_VPFILE_GRID_HPP
#define BENCH_VPFILE_GRID_HPP

#include <cstdint>
#include <filesystem>
#include <string>
#include <thalweg/thalweg.hpp>
#include <vector>

#include "parts.hpp"
#include "support/tasks.hpp"

namespace bench {

// Memory layouts and sizes that make the library choose a mode.
enum class Kind {
  plain,    // no vpfile: one collective access of the bytes
  packed,   // NB
  strided,  // CB: every second double of memory
  uneven,   // CB: one double, then the others, packed
  ragged    // IB: a double more or less, equal in total
};

struct Way {
  std::string name;
  Kind kind;
  std::string hints;  // for the vpfile
};

// All VPs, each with `doubles` doubles on average in each of `steps` steps.
struct Grid {
  std::int64_t vps;
  std::int64_t doubles;
  int steps = 1;
  double bytes() const { return static_cast<double>(vps) * static_cast<double>(doubles) * 8 * steps; }
};

// One task's memory, and the verification of read data.
class Cells {
 public:
  Cells(const Grid& grid, Kind kind, int rank, int size);
  std::int64_t first() const { return share_.first; }
  std::int64_t count() const { return share_.count; }
  // Calls per step.
  int n_calls() const { return kind_ == Kind::uneven ? 2 : 1; }
  tw_vpfile_data data(int call = 0);
  double* values() { return values_.data(); }
  std::size_t bytes() const { return total_ * sizeof(double); }
  void fill(int step);
  void forget();
  void check(int step) const;  // ends the program when a double differs from the written one

 private:
  std::size_t place(std::size_t i) const;
  Share share_;
  Kind kind_;
  std::int64_t doubles_;
  std::size_t total_ = 0;
  std::vector<std::int64_t> each_;
  std::vector<double> values_;
};

// Seconds of writing and of reading the whole grid in a new file, with open and close.
std::vector<double> write_and_read(Bench& bench, const Grid& grid, const Way& way, int repetition);

}  // namespace bench

#endif
