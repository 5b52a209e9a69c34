// The compared methods: numbers, names and fixed properties. Pure; shared by the measuring program and the command that
// plans, draws and predicts. Source of the list: M. Haefele, Comparison of different methods for performing parallel
// I/O, 2010; methods 16 to 23 are additions.
#pragma once

#include <span>
#include <string_view>

namespace probe {

// Files left in the folder.
enum class Outcome {
  global_array,  // one file that is the array, or has it at a fixed offset
  chunks,        // one file with the consecutive contiguous blocks of the ranks
  separate,      // a file per rank
  library,       // one or few files that only the library can read
};

struct MethodInfo {
  int number;
  std::string_view id;     // stable: used in records and options
  std::string_view title;  // for display
  std::string_view needs;  // required library: "", "HDF5", "PnetCDF", "SIONlib"
  Outcome outcome;
  bool collective;  // all ranks make the transfer call together
};

// In order of their numbers. Static storage.
std::span<const MethodInfo> method_table();
// Null: unknown id.
const MethodInfo* find_method(std::string_view id);

}  // namespace probe
