// The part of the program that needs MPI.
#pragma once

#include <functional>
#include <stdexcept>
#include <thalweg/base.hpp>

namespace probe {

inline constexpr int kWrongOptions = 2;  // exit status

// Measures what the options say, or prints the built methods. Returns the exit status. Throws std::exception with
// --describe, which needs no MPI_Init.
int measure(int argc, char** argv);

// Calls `use` on all ranks of the MPI program, with their group; without MPI in this process alone. Returns its result.
int on_ranks(const std::function<int(const thalweg::Group&)>& use);

}  // namespace probe
