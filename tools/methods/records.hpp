// The lines of JSON on standard output (docs/design/methods.md). Each is one call of write(2), so that lines of several
// ranks do not mix.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "method.hpp"
#include "options.hpp"

namespace methods {

using Json = nlohmann::ordered_json;

void print_record(const Json& record);

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

}  // namespace methods
