// The part of the program that needs MPI.
#pragma once

#include <stdexcept>

namespace probe {

inline constexpr int kWrongOptions = 2;  // exit status

// Ends the program; the text goes to standard output.
struct HelpWanted : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Measures what the options say, or prints the built methods. Returns the exit status. Throws HelpWanted, and
// std::runtime_error for wrong options without MPI_Init.
int measure(int argc, char** argv);

}  // namespace probe
