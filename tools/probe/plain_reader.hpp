// A sequential program's work on the result of a method: reading it, and merging separate pieces into one global file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "method.hpp"
#include "options.hpp"

namespace probe {

// Reads everything, and checks number and places of the elements; with `seed` every byte, too. Throws Failed on missing
// or repeated elements.
void read_plainly(Method& method, const Cell& cell, const std::string& folder, std::optional<std::uint32_t> seed = {});

// Writes the array to a separate file; durable if `sync`.
void merge_into(const std::string& path, Method& method, const Cell& cell, const std::string& folder, bool sync);
// Checks every byte of such a file.
void check_merged(const std::string& path, const Array& array, std::uint32_t seed);

}  // namespace probe
