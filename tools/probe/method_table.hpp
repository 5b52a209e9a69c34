// The compared methods: numbers, names and fixed properties. Source of the list: M. Haefele, Comparison of different
// methods for performing parallel I/O, 2010; methods 16 to 22 are additions.
#pragma once

#include <span>
#include <string_view>

namespace probe {

struct MethodInfo {
  int number;
  std::string_view id;     // stable: used in records and options
  std::string_view title;  // for display
  std::string_view needs;  // required library: "", "HDF5", "PnetCDF", "SIONlib"
  // Files left in the folder. "array": one file that is the array, or has it at a fixed offset; "chunks": one file with
  // the consecutive blocks of the ranks; "separate": a file per rank; "library": files that only the library can read.
  std::string_view outcome;
  bool collective;           // all ranks make the transfer call together
  bool nonblocking = false;  // can compute while it writes
};

// In order of their numbers. Static storage.
std::span<const MethodInfo> method_table();

}  // namespace probe
