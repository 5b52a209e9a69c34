#include "vpfile/formatted_text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <utility>

namespace thalweg {

namespace {

constexpr std::uint64_t kLineStep = 128;

Status bad_format(std::string_view format, const char* what) {
  return Status::error(Code::invalid_argument, "format '{}': {}", format, what);
}

bool is_in(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }

// Behind the '%' at `at`: the length modifier and the conversion, taken over into `part`.
Status take_conversion(std::string_view format, std::size_t& at, std::string_view known, FormatPart& part) {
  while (at < format.size() && is_in(format[at], "hlLqjzt")) part.length += format[at++];
  if (at == format.size()) return bad_format(format, "it ends within a conversion");
  const char conversion = format[at];
  if (!is_in(conversion, known)) return bad_format(format, "a conversion is not supported");
  part.conversion = conversion;
  ++at;
  return {};
}

// Behind '%[': the set, with its ']'.
Status skip_set(std::string_view format, std::size_t& at) {
  if (at < format.size() && format[at] == '^') ++at;
  if (at < format.size() && format[at] == ']') ++at;
  const std::size_t end = format.find(']', at);
  if (end == std::string_view::npos) return bad_format(format, "a set has no end");
  at = end + 1;
  return {};
}

template <class T>
Status print_value(const FormatPart& part, const void* argument, std::string& out) {
  T value;
  std::memcpy(&value, argument, sizeof value);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  const int length = std::snprintf(nullptr, 0, part.text.c_str(), value);
  if (length < 0) return Status::error(Code::invalid_argument, "format '{}' cannot be printed", part.text);
  const std::size_t begin = out.size();
  out.resize(begin + static_cast<std::size_t>(length) + 1);
  std::snprintf(out.data() + begin, static_cast<std::size_t>(length) + 1, part.text.c_str(), value);
#pragma GCC diagnostic pop
  out.pop_back();
  return {};
}

template <class Int, class Long, class LongLong, class Max, class Size>
Status print_integer(const FormatPart& part, const void* argument, std::string& out) {
  if (part.length.empty() || part.length[0] == 'h') return print_value<Int>(part, argument, out);
  if (part.length == "l") return print_value<Long>(part, argument, out);
  if (part.length == "ll" || part.length == "q") return print_value<LongLong>(part, argument, out);
  if (part.length == "j") return print_value<Max>(part, argument, out);
  return print_value<Size>(part, argument, out);
}

}  // namespace

std::size_t count_arguments(const std::vector<FormatPart>& parts) {
  return static_cast<std::size_t>(
      std::count_if(parts.begin(), parts.end(), [](const FormatPart& part) { return part.conversion != 0; }));
}

Result<std::vector<FormatPart>> split_format(std::string_view format, bool scans) {
  const std::string_view flags = scans ? "0123456789" : "-+ #0123456789.'";
  std::vector<FormatPart> parts;
  FormatPart part;
  for (std::size_t at = 0; at < format.size();) {
    const std::size_t begin = at++;
    const bool is_literal = format[begin] != '%' || (at < format.size() && format[at] == '%');
    if (is_literal) {
      if (format[begin] == '%') ++at;
      part.text += format.substr(begin, at - begin);
      continue;
    }
    const bool is_dropped = scans && at < format.size() && format[at] == '*';  // it has no argument
    if (is_dropped) ++at;
    while (at < format.size() && is_in(format[at], flags)) ++at;
    if (!scans && at < format.size() && format[at] == '*')
      return bad_format(format, "'*' is not supported: write the number");
    TW_RETURN_IF_ERROR(take_conversion(format, at, scans ? "diouxXeEfFgGaAcsp[" : "diouxXeEfFgGaAcsp", part));
    if (part.conversion == '[') TW_RETURN_IF_ERROR(skip_set(format, at));
    part.text += format.substr(begin, at - begin);
    if (!is_dropped) {
      parts.push_back(std::exchange(part, {}));
      continue;
    }
    part.conversion = 0;
    part.length.clear();
  }
  if (!part.text.empty()) parts.push_back(std::move(part));
  return parts;
}

Status print_part(const FormatPart& part, const void* argument, std::string& out) {
  if (part.conversion == 0) {
    for (std::size_t i = 0; i < part.text.size(); ++i) {
      out += part.text[i];
      if (part.text[i] == '%') ++i;  // "%%"
    }
    return {};
  }
  if (is_in(part.conversion, "di"))
    return print_integer<int, long, long long, std::intmax_t, std::ptrdiff_t>(part, argument, out);
  if (is_in(part.conversion, "ouxX"))
    return print_integer<unsigned, unsigned long, unsigned long long, std::uintmax_t, std::size_t>(part, argument, out);
  if (part.conversion == 'c') return print_value<int>(part, argument, out);
  if (part.conversion == 's') return print_value<const char*>(part, argument, out);
  if (part.conversion == 'p') return print_value<const void*>(part, argument, out);
  return part.length == "L" ? print_value<long double>(part, argument, out) : print_value<double>(part, argument, out);
}

Status read_line(VpFile& file, std::uint64_t local, std::uint64_t most, std::string& line) {
  VpStream stream = file.stream(local);
  std::array<char, kLineStep> bytes;
  while (most > 0) {
    // A seek cannot return bytes that were pushed back.
    const std::uint64_t wanted = stream.has_pushed() ? 1 : std::min(most, kLineStep);
    TW_ASSIGN_OR_RETURN(const std::uint64_t got, stream.read(std::as_writable_bytes(std::span(bytes).first(wanted))));
    const auto* newline = static_cast<const char*>(std::memchr(bytes.data(), '\n', got));
    const std::uint64_t taken = newline != nullptr ? static_cast<std::uint64_t>(newline - bytes.data()) + 1 : got;
    line.append(bytes.data(), taken);
    most -= taken;
    // A newline is before the end: a longer read must not leave the end-of-file flag.
    if (taken < got || (newline != nullptr && got < wanted))
      return stream.seek(-static_cast<std::int64_t>(got - taken), SEEK_CUR, StreamState::kEof);
    if (newline != nullptr || got < wanted) return {};
  }
  return {};
}

}  // namespace thalweg
