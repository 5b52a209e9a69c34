// The package thalweg.measure (Python), which carries out `thalweg methods` and `thalweg advise`, and the half of
// `thalweg tune` that needs ranks.
#pragma once

#include <string>
#include <vector>

#include "text.hpp"

namespace tool {

// Whether the package carries out this command.
bool is_measuring(const std::string& command);

// Replaces this process by `python3 -m thalweg.measure` with these words. Throws Failure where no Python on this machine
// has the packages that it needs; the message names them.
[[noreturn]] void become_measuring(const std::vector<std::string>& words);

// Replaces this process by a program, found on PATH. Throws Failure where it cannot be started; the message ends with
// `advice`.
[[noreturn]] void become(std::vector<std::string> words, const char* advice = "");

// Runs `python3 -m thalweg.measure` with these words, and returns the JSON object that it prints. Throws Failure, and
// Interrupted.
Json measured(const std::vector<std::string>& words);

}  // namespace tool
