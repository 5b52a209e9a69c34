// Starting the MPI program that measures: where it is, how its ranks are started, its output line by line, and its end
// in any case.
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
  Json description;                  // what it says of itself: mpi, kind, mpiexec, methods
};

// The program: `program`, else $THALWEG_METHODS, else beside this command, else on PATH. `mpiexec` (words): else that
// of the MPI it was built with. Throws Failure that says how to get what is missing.
Launcher find_launcher(const std::string& program, const std::string& mpiexec);

struct LaunchEnd {
  int exit_code = 0;       // of mpiexec; 0: all is well
  int signal = 0;          // that ended mpiexec; 0: none
  std::string error_text;  // the last of its standard error
  bool silent = false;     // it was ended because it said nothing for too long
};

// Gives each line of standard output to `on_line` and returns when all ranks have ended. They are ended when on_line
// throws, when nothing was heard for `patience_s` seconds, and on Ctrl-C, which then throws Interrupted. MPIs are told
// to bear more ranks than cores, unless the environment says otherwise.
LaunchEnd launch(const Launcher& launcher, int ranks, const std::vector<std::string>& arguments,
                 const std::function<void(std::string_view line)>& on_line, int patience_s = 600);

// The first line that says something: launchers draw lines of dashes. "": none does.
std::string telling_line(const std::string& text);

// Why a launch did not end well, in words.
std::string how_it_ended(const Launcher& launcher, const LaunchEnd& end, int patience_s);

}  // namespace tool
