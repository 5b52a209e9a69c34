// The options of the program.
#pragma once

#include <string>
#include <vector>

#include "array.hpp"

namespace probe {

// One configuration measured with all methods; the number of ranks is that of the launch.
struct Cell {
  Array array;
  std::vector<int> grid;
};

struct Options {
  std::string help;  // where it is asked for: nothing else is valid
  bool describe = false;
  bool network = false;
  std::string folder;
  std::vector<Cell> cells;
  std::vector<std::string> methods;  // ids; empty: all built methods
  std::vector<std::string> phases = {"write", "read", "restart", "serial", "merge", "overlap"};
  int repetitions = 3;
  bool cold = false;
  bool keep = false;
  bool limit = false;
  std::string cache = "warm";

  bool syncs() const { return cache != "warm"; }
  bool drops() const { return cache == "drop"; }
};

// `ranks`: number of ranks; 0 when unknown and irrelevant. Throws std::runtime_error for
// invalid options.
Options parse_options(int argc, const char* const* argv, int ranks);

}  // namespace probe
