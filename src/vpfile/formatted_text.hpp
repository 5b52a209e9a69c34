// Text in the streams of a vpfile: lines, and what printf and scanf make of formats whose arguments come one by one.
#pragma once

#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "vpfile/vpfile.hpp"

namespace thalweg {

// One conversion of a format with the literal text before it, or only literal text.
struct FormatPart {
  std::string text;     // as printf and scanf take it
  char conversion = 0;  // 'd', 'f', ...; 0: none that has an argument
  std::string length;   // "l", "hh", ...
};
// A format as printf takes it, or scanf. invalid_argument: a conversion is not known, or is one that takes other than
// one argument.
Result<std::vector<FormatPart>> split_format(std::string_view format, bool scans);
std::size_t count_arguments(const std::vector<FormatPart>& parts);

// Appends what printf makes of `part`; `argument` points to the value.
Status print_part(const FormatPart& part, const void* argument, std::string& out);

// Calls read(stream) with the stream of one VP as a FILE*. Afterwards the VP stands behind what was read of it, and is
// at its end where the FILE was. `read` throws nothing.
Status read_as_stdio(VpFile& file, std::uint64_t local, const std::function<void(std::FILE* stream)>& read);

// As fgets: up to and with a newline, at most `most` bytes, appended to `line`. Nothing at the end.
Status read_line(VpFile& file, std::uint64_t local, std::uint64_t most, std::string& line);

}  // namespace thalweg
