// Seconds of a method and phase, from a few constants that `thalweg tune` fitted to measured cells. Pure.
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

// The work of one node in the model.
struct Load {
  double ranks = 1;    // that move the bytes
  double written = 1;  // ranks that wrote, the number of pieces
  double cores = 1;    // of the node
  double bytes = 0;    // of all ranks
  double runs = 1;     // contiguous stretches of the global array, of all ranks
  double cuts = 1;     // stretches of the written pieces, of all ranks: one each, more when readers use another grid
};

// Number of contiguous stretches of an array in its order, for the blocks of one grid, or of two overlaid grids.
double runs_of(const Cell& cell, const std::vector<int>& grid);
double runs_of(const Cell& cell, const std::vector<int>& grid, const std::vector<int>& other);
// `readers`: for a restart, otherwise unused.
Load load_of(const Cell& cell, std::string_view phase, int readers, int cores);

// Stretches of one file of consecutive blocks, read with another grid: a block that is read whole counts as one.
double chunk_runs_of(const Cell& cell, const std::vector<int>& grid);

// The factors of the constants.
enum Term : size_t { kFixed, kPerRank, kMeeting, kByte, kSharedByte, kFarByte, kRun };
inline constexpr size_t kTerms = 7;
extern const std::array<const char*, kTerms> kTermNames;                 // names of members of the profile
std::string term_meaning(const methods::MethodInfo& method, Term term);  // for display
std::vector<double> terms_of(const methods::MethodInfo& method, std::string_view phase, const Load& load);

using Constants = std::vector<double>;  // kTerms, by Term; seconds

struct Calibration {
  std::string mpi, cache, measured;
  int cores = 1;
  std::vector<std::string> cells;               // cell_text() of the cells it was fitted to
  double median_error = 0;                      // relative error on these; 0: unknown
  double left_out_error = 0;                    // relative error on each of these, with constants fitted to the others;
                                                // 0: unknown
  std::map<std::string, double> largest_bytes;  // largest measured array of a method; missing: unknown
  std::map<std::string, std::map<std::string, Constants>> constants;  // by method, by phase
  const Constants* find(std::string_view method, std::string_view phase) const;
  // The fairer known error: on cells left out rather than on fitted ones.
  double told_error() const { return left_out_error > 0 ? left_out_error : median_error; }
  bool empty() const { return constants.empty(); }
  double most_bytes() const;  // of all methods; 0: unknown
};

// Costs that the times do not determine: of the page cache and of messages within one node, in seconds.
struct Primitives {
  double byte = 0.2e-9;   // moved by one core
  double call = 1e-6;     // system call, or piece
  double message = 1e-6;  // between ranks
  double open = 30e-6;    // of a file
};
Primitives primitives_of(const Json& entry);

// Number of reading ranks of restart cells, by method and cell.
using Readers = std::map<std::pair<std::string, Cell>, int>;  // by method and cell
Readers readers_of(const Results& results);

Calibration calibrate(const Results& results, int cores, const Primitives& known);
Json json_of(const Calibration& calibration);                         // the member "methods" of a profile's entry
Calibration calibration_of(const Json& entry);                        // empty: no calibration
Calibration default_calibration(const Primitives& known, int cores);  // a typical machine

double predicted_seconds(const methods::MethodInfo& method, std::string_view phase, const Load& load,
                         const Constants& constants);

}  // namespace tool
