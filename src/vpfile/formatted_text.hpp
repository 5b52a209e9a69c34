// Text in the streams of a vpfile: lines, and formats of printf and scanf with their arguments given one by one.
#pragma once

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
// Splits a format of printf, or of scanf. invalid_argument: a conversion is not supported, or takes a second argument
// for its width or precision.
Result<std::vector<FormatPart>> split_format(std::string_view format, bool scans);
std::size_t count_arguments(const std::vector<FormatPart>& parts);

// Appends the text that printf makes of `part`; `argument` points to the value.
Status print_part(const FormatPart& part, const void* argument, std::string& out);

// As fgets: appends bytes up to and including a newline, at most `most`, to `line`; nothing at the end of the stream.
Status read_line(VpFile& file, std::uint64_t local, std::uint64_t most, std::string& line);

}  // namespace thalweg
