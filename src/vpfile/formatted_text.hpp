// Text in the streams of a vpfile: lines, and what printf and scanf make of formats whose arguments come one by one.
#pragma once

#include <cstdio>
#include <memory>
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
// invalid_argument: a conversion is not known, or is one that takes other than one argument.
Result<std::vector<FormatPart>> split_print_format(std::string_view format);
Result<std::vector<FormatPart>> split_scan_format(std::string_view format);
std::size_t count_arguments(const std::vector<FormatPart>& parts);

// Appends what printf makes of `part`; `argument` points to the value.
Status print_part(const FormatPart& part, const void* argument, std::string& out);

// The stream of one VP as a FILE*, for reading. When it is closed the VP stands behind what was read of it, and is at
// its end where the FILE is.
struct StreamCloser {
  VpFile* file = nullptr;
  std::uint64_t local = 0;
  void operator()(std::FILE* stream) const;
};
using StdioStream = std::unique_ptr<std::FILE, StreamCloser>;
// `failure` is set when reading fails; it must outlive the stream.
Result<StdioStream> open_vp_stream(VpFile& file, std::uint64_t local, Status& failure);

// As fgets: up to and with a newline, at most `most` bytes, appended to `line`. Nothing at the end.
Status read_line(VpFile& file, std::uint64_t local, std::uint64_t most, std::string& line);

}  // namespace thalweg
