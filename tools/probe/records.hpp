// Records of what is measured (docs/design/methods.md), as JSON.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "method.hpp"
#include "options.hpp"
#include "print_record.hpp"

namespace probe {

// Members common to all records of a cell.
Json json_of(const Cell& cell, int ranks, Cache cache);
// A `method` record, and a member of the output of --describe.
Json json_of(const MethodInfo& info, const Method& method);

// The current step of this process, for messages about failures.
struct Where {
  Json method, cell, phase;  // null: outside a method, cell or phase
  int rank = 0;
};
Json failure_record(const Where& where, const std::string& message);

}  // namespace probe
