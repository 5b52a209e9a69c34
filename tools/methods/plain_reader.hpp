// What a sequential program does with the outcome of a method: reads it, and makes one global file of separate pieces.
#pragma once

#include <cstdint>
#include <string>

#include "method.hpp"
#include "options.hpp"

namespace methods {

// Reads all, and looks at how many elements came and where they belong, but not at their bytes: for timing. Throws
// Failed where some are missing or came twice.
void read_plainly(Method& method, const Cell& cell, const std::string& folder);
// The same, every byte checked.
void check_plainly(Method& method, const Cell& cell, const std::string& folder, std::uint32_t seed);

// Writes the array to a file of its own; durable if `sync`.
void merge_into(const std::string& path, Method& method, const Cell& cell, const std::string& folder, bool sync);
// Every byte of such a file.
void check_merged(const std::string& path, const Array& array, std::uint32_t seed);

}  // namespace methods
