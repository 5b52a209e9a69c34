// The lines of JSON on standard output (docs/design/methods.md). Each is one call of write(2), so that lines of several
// ranks do not mix.
#pragma once

#include <nlohmann/json.hpp>

namespace probe {

using Json = nlohmann::ordered_json;

// Throws std::runtime_error where standard output takes no more.
void print_record(const Json& record);

}  // namespace probe
