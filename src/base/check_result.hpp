// What the check or repair of a file reports to its caller, during the work and at the end.
#pragma once

#include <string>

#include "base/go_on.hpp"

namespace thalweg {

struct Watch {
  std::function<void(const std::string& finding)> finding;  // may be empty
  // Bytes done and in total of the current step; may be empty. Returning false ends the work with Code::stopped.
  std::function<bool(std::uint64_t done, std::uint64_t total)> progress;
  GoOn go_on = {};  // called during work of unknown length; may be empty
};

struct CheckResult {
  std::uint64_t n_logical = 0;
  std::uint64_t damaged_logical = 0;
  std::uint64_t logical_bytes = 0;  // sum over intact logical files
  std::uint64_t findings = 0;
  bool closed = false;
  bool repaired = false;
};

}  // namespace thalweg
