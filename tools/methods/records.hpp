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

// What all records of a cell have in common.
Json json_of(const Cell& cell, int ranks, Cache cache);
// A `method` record, and a member of what --describe says.
Json json_of(const MethodInfo& info, const Method& method);

// What is going on in this process, so that a failure can say where it was.
struct Where {
  Json method, cell, phase;  // null: not of one
  int rank = 0;
};
Json failure_record(const Where& where, const std::string& message);

}  // namespace methods
