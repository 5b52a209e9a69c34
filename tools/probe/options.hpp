// The options of the program.
#pragma once

#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "array.hpp"

namespace probe {

// One configuration measured with all methods; the number of ranks is that of the launch.
struct Cell {
  Array array;
  std::vector<int> grid;
};

enum class Phase { write, read, restart, serial, merge, overlap };
enum class Cache { warm, sync, drop, direct };
const char* name_of(Phase phase);
const char* name_of(Cache cache);

struct Options {
  bool describe = false;
  bool network = false;
  std::string folder;
  std::vector<Cell> cells;
  std::vector<std::string> methods;  // ids; empty: all built methods
  std::set<Phase> phases;
  int repetitions = 3;
  bool cold = false;
  bool keep = false;
  bool limit = false;
  Cache cache = Cache::warm;
  std::uint32_t seed = 1;
  int files_per_folder = 32;

  bool syncs() const { return cache != Cache::warm; }
  bool drops() const { return cache == Cache::drop || cache == Cache::direct; }
};

// Ends the program; the text goes to standard output.
struct HelpWanted : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// `ranks`: number of ranks; 0 when unknown and irrelevant. Throws HelpWanted, and std::runtime_error for invalid options.
Options parse_options(int argc, const char* const* argv, int ranks);

}  // namespace probe
