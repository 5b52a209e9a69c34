// What verifying and repairing a file report to their caller, while they work and at the end.
#pragma once

#include <string>

#include "base/go_on.hpp"

namespace thalweg {

struct Watch {
  std::function<void(const std::string& finding)> finding;  // may be empty
  // Bytes done and in all of the current step; may be empty. False ends the work with Code::stopped.
  std::function<bool(std::uint64_t done, std::uint64_t total)> progress;
  GoOn go_on = {};  // asked during work whose length is unknown; may be empty
};

struct CheckResult {
  std::uint64_t n_logical = 0;
  std::uint64_t damaged_logical = 0;
  std::uint64_t logical_bytes = 0;  // of logical files that are whole
  std::uint64_t findings = 0;
  bool closed = false;
  bool repaired = false;
};

}  // namespace thalweg
