// Starts the measuring MPI program: finds it and its launcher, passes on its output line by line, and ends it in any
// case.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "text.hpp"

namespace tool {

struct Launcher {
  std::string program;               // thalweg-methods
  std::vector<std::string> mpiexec;  // words before "-n RANKS"
  Json description;                  // its description of itself: mpi, kind, mpiexec, methods
};

// The program: `program`, else $THALWEG_METHODS, else beside this command, else on PATH. `mpiexec` (words): else that
// of the MPI it was built with. Throws Failure with the remedy for a missing part.
Launcher find_launcher(const std::string& program, const std::string& mpiexec);

struct LaunchEnd {
  int exit_code = 0;       // of mpiexec; 0: success
  int signal = 0;          // that ended mpiexec; 0: none
  std::string error_text;  // end of its standard error
  bool silent = false;     // ended after too long without output
};

// Passes each line of standard output to `on_line` and returns when all ranks have ended. Ends them when on_line
// throws, after `patience_s` seconds without output, and on Ctrl-C, which then throws Interrupted. Permits more ranks
// than cores, unless the environment sets otherwise.
LaunchEnd launch(const Launcher& launcher, int ranks, const std::vector<std::string>& arguments,
                 const std::function<void(std::string_view line)>& on_line, int patience_s = 600);

// The first informative line: launchers print lines of dashes. "": none.
std::string telling_line(const std::string& text);

// Describes why a launch failed.
std::string how_it_ended(const Launcher& launcher, const LaunchEnd& end, int patience_s);

}  // namespace tool
