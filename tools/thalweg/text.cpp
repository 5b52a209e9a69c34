// Safe printing of arbitrary bytes; sizes, modes, standard output, JSON.
#include "text.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <iterator>
#include <map>

#include "command.hpp"
#include "common.hpp"

namespace tool {
namespace {

std::string g_output;  // buffered standard output

// Progress of the object: not begun, a list begun and empty, a list with items, complete.
enum class Printed { nothing, empty_list, list, all };
Printed g_printed = Printed::nothing;

// Characters of Unicode 16.0 that a terminal interprets or hides: the categories Cc, Cf, Zl and Zp, and the property
// Default_Ignorable_Code_Point. They include all direction controls, tag characters, joiners and fillers.
struct CodeRange {
  uint32_t first, last;
};
constexpr CodeRange kHidden[] = {
    {0x0000, 0x001f},   {0x007f, 0x009f},   {0x00ad, 0x00ad},   {0x034f, 0x034f},   {0x0600, 0x0605},
    {0x061c, 0x061c},   {0x06dd, 0x06dd},   {0x070f, 0x070f},   {0x0890, 0x0891},   {0x08e2, 0x08e2},
    {0x115f, 0x1160},   {0x17b4, 0x17b5},   {0x180b, 0x180f},   {0x200b, 0x200f},   {0x2028, 0x202e},
    {0x2060, 0x206f},   {0x3164, 0x3164},   {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},
    {0xfff0, 0xfffb},   {0x110bd, 0x110bd}, {0x110cd, 0x110cd}, {0x13430, 0x1343f}, {0x1bca0, 0x1bca3},
    {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};

bool is_hidden(uint32_t code) {
  const auto* const range = std::ranges::lower_bound(kHidden, code, {}, &CodeRange::last);
  return range != std::end(kHidden) && range->first <= code;
}

std::string escaped(uint32_t code) {
  switch (code) {
    case '\n':
      return "\\n";
    case '\t':
      return "\\t";
    case '\r':
      return "\\r";
    default:
      if (code > 0xffff) return fmt::format("\\U{:08x}", code);
      return code < 0x100 ? fmt::format("\\x{:02x}", code) : fmt::format("\\u{:04x}", code);
  }
}

}  // namespace

size_t utf8_character(std::string_view text, uint32_t* code) {
  if (text.empty()) return 0;
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  *code = first;
  if (first < 0x80) return 1;
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  uint32_t value = first & (0x7fU >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    value = value << 6 | (byte(i) & 0x3fU);
  }
  const uint32_t least = length == 2 ? 0x80 : length == 3 ? 0x800 : 0x10000;
  if (value < least || value > 0x10ffff || (value >= 0xd800 && value < 0xe000)) return 0;
  *code = value;
  return length;
}

bool is_utf8(std::string_view text) {
  uint32_t code = 0;
  while (!text.empty()) {
    const size_t length = utf8_character(text, &code);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string printable(std::string_view text, bool unambiguous) {
  std::string line;
  while (!text.empty()) {
    uint32_t code = 0;
    const size_t length = utf8_character(text, &code);
    if (length == 0) {
      line += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    } else if (code == '\\' && unambiguous) {
      line += "\\\\";
    } else if (is_hidden(code)) {
      line += escaped(code);
    } else {
      line += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return line;
}

std::string short_size(int64_t bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1023.95 && unit < 6; ++unit) value /= 1024;
  if (unit == 0) return fmt::format("{} B", bytes);
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string xml_text(std::string_view text) {
  static const std::map<char, std::string> escapes = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}};
  std::string safe;
  for (const char c : printable(text, false)) {
    const auto found = escapes.find(c);
    safe += found == escapes.end() ? std::string(1, c) : found->second;
  }
  return safe;
}

std::string size_text(int64_t bytes) {
  if (bytes < 1024) return count_text(bytes, "byte");
  return fmt::format("{} ({} bytes)", short_size(bytes), bytes);
}

std::string mode_text(uint32_t mode) {
  if (mode == 0) return "-";
  std::string text = "?rwxrwxrwx";
  if (S_ISREG(mode) || (mode & S_IFMT) == 0) text[0] = '-';
  if (S_ISDIR(mode)) text[0] = 'd';
  if (S_ISLNK(mode)) text[0] = 'l';
  for (unsigned bit = 0; bit < 9; ++bit) {
    if ((mode >> bit & 1U) == 0) text[9 - bit] = '-';
  }
  if ((mode & S_ISUID) != 0) text[3] = (mode & S_IXUSR) != 0 ? 's' : 'S';
  if ((mode & S_ISGID) != 0) text[6] = (mode & S_IXGRP) != 0 ? 's' : 'S';
  if ((mode & S_ISVTX) != 0) text[9] = (mode & S_IXOTH) != 0 ? 't' : 'T';
  return text;
}

std::string count_text(int64_t n, const char* thing) { return fmt::format("{} {}{}", n, thing, n == 1 ? "" : "s"); }

std::string ranks_text(int64_t first, int64_t last) {
  return first == last ? std::to_string(first) : fmt::format("{}-{}", first, last);
}

std::string nearest(const std::string& word, const std::vector<std::string>& known) {
  std::string best;
  size_t best_distance = SIZE_MAX;
  for (const std::string& candidate : known) {
    std::vector<size_t> row(candidate.size() + 1);  // edit distance, one row of the table
    for (size_t j = 0; j < row.size(); ++j) row[j] = j;
    for (size_t i = 1; i <= word.size(); ++i) {
      size_t diagonal = row[0]++;
      for (size_t j = 1; j < row.size(); ++j) {
        const size_t changed = diagonal + (word[i - 1] == candidate[j - 1] ? 0 : 1);
        diagonal = row[j];
        row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
      }
    }
    if (3 * row.back() <= candidate.size() && row.back() < best_distance) {  // larger distances are no similarity
      best_distance = row.back();
      best = candidate;
    }
  }
  return best;
}

std::string shell_word(const std::string& path) {
  static constexpr const char* kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+,:@%=-";
  std::string word = path.starts_with('-') ? "./" + path : path;
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  for (size_t at = word.find('\''); at != std::string::npos; at = word.find('\'', at + 4)) word.replace(at, 1, "'\\''");
  return "'" + word + "'";
}

void put(std::string_view text) {
  g_output += text;
  if (g_output.size() >= 1U << 16) flush_output();
}

void flush_output() {
  const size_t wrote = write_some(STDOUT_FILENO, g_output.data(), g_output.size());
  const int number = errno;
  g_output.erase(0, wrote);
  if (g_output.empty()) return;
  stop_if_interrupted();
  g_output.clear();
  if (number == EPIPE) throw BrokenPipe{};
  throw Failure(kInputOutput, fmt::format("cannot write to standard output: {}", std::strerror(number)));
}

// Writes in parts small enough for a pipe that has space.
void flush_last_output() {
  constexpr int kPatienceMs = 100;
  while (!g_output.empty()) {
    pollfd out = {STDOUT_FILENO, POLLOUT, 0};
    const int ready = poll(&out, 1, kPatienceMs);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return;
    const ssize_t wrote = write(STDOUT_FILENO, g_output.data(), std::min<size_t>(g_output.size(), PIPE_BUF));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return;
    g_output.erase(0, static_cast<size_t>(wrote));
  }
}

namespace {

// Such characters occur only in strings of a JSON text, where escapes are valid; those below 0x20 are escaped already.
std::string with_hidden_escaped(const std::string& json) {
  std::string safe;
  for (std::string_view left = json; !left.empty();) {
    uint32_t code = 0;
    const size_t length = std::max<size_t>(utf8_character(left, &code), 1);
    if (code < 0x7f || !is_hidden(code)) {
      safe += left.substr(0, length);
    } else if (code <= 0xffff) {
      safe += fmt::format("\\u{:04x}", code);
    } else {
      const uint32_t above = code - 0x10000;
      safe += fmt::format("\\u{:04x}\\u{:04x}", 0xd800 + (above >> 10), 0xdc00 + (above & 0x3ff));
    }
    left.remove_prefix(length);
  }
  return safe;
}

}  // namespace

std::string json_text(const Json& value) {
  return with_hidden_escaped(value.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n";
}

static std::string json_line(const Json& value) {
  return with_hidden_escaped(value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

// `now` applies once the text is buffered: the write may fail.
static void put_as(Printed now, const std::string& text) {
  g_output += text;
  g_printed = now;
  put({});
}

void put_json(const Json& value) { put_as(Printed::all, json_text(value)); }

void begin_json_list(const Json& head, const char* key) {
  std::string text = json_line(head);
  text.pop_back();  // the brace
  put_as(Printed::empty_list, fmt::format("{}, {}: [", text, json_line(key)));
}

void put_json_item(const Json& item) {
  put_as(Printed::list, (g_printed == Printed::empty_list ? "\n  " : ",\n  ") + json_line(item));
}

void end_json_list(const Json& tail) { put_as(Printed::all, "\n], " + json_line(tail).substr(1) + "\n"); }

void put_failed_json(const Json& object) {
  if (g_printed == Printed::all) return;
  if (g_printed == Printed::nothing) return put_as(Printed::all, json_line(object) + "\n");
  Json tail = object;
  tail.erase("command");
  end_json_list(tail);
}

void add_name(Json& object, const std::string& name, uint32_t mode) {
  object["name"] = name;
  if (!is_utf8(name)) {
    std::string hex;
    for (const char byte : name) hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    object["name_hex"] = hex;
  }
  object["mode"] = mode == 0 ? Json() : Json(fmt::format("{:06o}", mode));
}

Json json_head(const char* command, const std::string& file) {
  Json object;
  object["command"] = command;
  object["file"] = file;
  return object;
}

void put_result(const Common& common, Json head, const Json& members, const std::string& text) {
  head.update(members);
  if (common.json)
    put_json(head);
  else if (!common.quiet)
    put(text);
}

}  // namespace tool
