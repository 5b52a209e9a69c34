// The methods that are compared: numbers, names and what is known of each before anything is measured. Pure; shared by
// the program that measures and the command that plans, draws and predicts. Source of the list: M. Haefele, Comparison
// of different methods for performing parallel I/O, 2010; 16 to 23 are ours to add.
#pragma once

#include <span>
#include <string_view>

namespace methods {

// What lies in the folder afterwards.
enum class Outcome {
  global_array,  // one file that is, or has at a fixed place, the array in its order
  chunks,        // one file with a contiguous block of each rank, one behind the other
  separate,      // a file of each rank
  library,       // one file, or few, that only its library takes apart
};

struct MethodInfo {
  int number;
  std::string_view id;     // stable: of records and options
  std::string_view title;  // for people
  std::string_view needs;  // library that it is made with: "", "HDF5", "PnetCDF", "ADIOS2", "SIONlib"
  Outcome outcome;
  bool ours;        // Thalweg's
  bool collective;  // all ranks make the call that moves the bytes together
};

// In the order of their numbers. Static storage.
std::span<const MethodInfo> method_table();
// Null: there is none of that id.
const MethodInfo* find_method(std::string_view id);

}  // namespace methods
