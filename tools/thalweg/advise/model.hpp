// Seconds of a method and phase, from a few constants that `thalweg tune` fitted to cells that it measured. Pure.
// docs/design/methods.md, "The model".
#pragma once

#include <array>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "methods/method_table.hpp"
#include "methods/results.hpp"

namespace tool {

inline constexpr std::array<const char*, 3> kModelPhases = {"write", "read", "restart"};

// What one node does, as the model sees it.
struct Load {
  double ranks = 1;    // that move the bytes
  double written = 1;  // ranks that wrote: so many pieces are there
  double cores = 1;    // of the node
  double bytes = 0;    // of all ranks
  double runs = 1;     // contiguous stretches of the global array, of all ranks
  double cuts = 1;  // stretches of the pieces that were written, of all ranks: one each, more when the cut is another
};

// Contiguous stretches of an array in its order that the blocks of one grid, or of two laid over each other, are made
// of.
double runs_of(const Cell& cell, const std::vector<int>& grid);
double runs_of(const Cell& cell, const std::vector<int>& grid, const std::vector<int>& other);
// `readers`: of a restart, else not looked at.
Load load_of(const Cell& cell, std::string_view phase, int readers, int cores);

// Stretches of one file in which the blocks lie one behind the other, read by the blocks of another grid: blocks that
// are wanted whole are one each.
double chunk_runs_of(const Cell& cell, const std::vector<int>& grid);

// What the constants are multiplied with, and what they are.
enum Term : size_t { kFixed, kPerRank, kMeeting, kByte, kSharedByte, kFarByte, kRun };
inline constexpr size_t kTerms = 7;
extern const std::array<const char*, kTerms> kTermNames;                 // of members of the profile
std::string term_meaning(const methods::MethodInfo& method, Term term);  // for people
std::vector<double> terms_of(const methods::MethodInfo& method, std::string_view phase, const Load& load);

using Constants = std::vector<double>;  // kTerms, by Term; seconds

struct Calibration {
  std::string mpi, cache, measured;
  int cores = 1;
  std::vector<std::string> cells;               // cell_text(), of what it was made of
  double median_error = 0;                      // on these, relative to what was measured; 0: not known
  double left_out_error = 0;                    // on each of these, of constants fitted to the others; 0: not known
  std::map<std::string, double> largest_bytes;  // of an array that a method was measured with; nothing: not known
  std::map<std::string, std::map<std::string, Constants>> constants;  // by method, by phase
  const Constants* find(std::string_view method, std::string_view phase) const;
  // The fairer one of what is known: constants are better on the cells that they were fitted to than on others.
  double told_error() const { return left_out_error > 0 ? left_out_error : median_error; }
  bool empty() const { return constants.empty(); }
  double most_bytes() const;  // of all methods; 0: not known
};

// What is not told by the times: of the page cache and the messages of one node, in seconds.
struct Primitives {
  double byte = 0.2e-9;   // moved by one core
  double call = 1e-6;     // of the system, or one piece
  double message = 1e-6;  // from one rank to another
  double open = 30e-6;    // a file
};
Primitives primitives_of(const Json& entry);

// How many ranks read the cells of restarts.
using Readers = std::map<std::pair<std::string, Cell>, int>;  // by method and cell
Readers readers_of(const Results& results);

Calibration calibrate(const Results& results, int cores, const Primitives& known);
Json json_of(const Calibration& calibration);                         // the member "methods" of a profile's entry
Calibration calibration_of(const Json& entry);                        // empty: it has none
Calibration default_calibration(const Primitives& known, int cores);  // of no machine in particular

double predicted_seconds(const methods::MethodInfo& method, std::string_view phase, const Load& load,
                         const Constants& constants);

}  // namespace tool
