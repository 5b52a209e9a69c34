// Text for display and for programs: safe printing of arbitrary bytes; sizes, modes, standard output, JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace tool {

using Json = nlohmann::ordered_json;
struct Common;

// Length in bytes of the UTF-8 character at the start of `text`; 0 when invalid. *code is its number.
size_t utf8_character(std::string_view text, uint32_t* code);
bool is_utf8(std::string_view text);

// Any bytes as one line for a terminal: characters that it interprets or hides, and bytes that are no UTF-8, become \n,
// \x1b, \u202e, \U000e0041. A backslash is doubled when `unambiguous`.
std::string printable(std::string_view text, bool unambiguous = true);

std::string xml_text(std::string_view text);           // printable(), safe inside XML
std::string size_text(int64_t bytes);                  // "1.5 MiB (1572864 bytes)"
std::string short_size(int64_t bytes);                 // "1.5 MiB"
std::string mode_text(uint32_t mode);                  // "-rw-r--r--", "-" when there is none
std::string count_text(int64_t n, const char* thing);  // "1 task", "3 tasks"
std::string ranks_text(int64_t first, int64_t last);   // "3", "3-7"

// A path as one shell word, quoted where needed, never parsed as an option.
std::string shell_word(const std::string& path);

// "did you mean" for a short list; empty without a near match.
std::string nearest(const std::string& word, const std::vector<std::string>& known);

// Standard output, buffered. Throws BrokenPipe, Failure or Interrupted.
void put(std::string_view text);
void flush_output();
// After a signal: writes the buffer as long as the reader accepts it.
void flush_last_output();
// Characters that a terminal interprets or hides are escaped.
std::string json_text(const Json& value);  // with line end
void put_json(const Json& value);

// Prints an object item by item, as there may be millions: its first keys, then the list `key`. Other keys follow and
// end it.
void begin_json_list(const Json& head, const char* key);
void put_json_item(const Json& item);
void end_json_list(const Json& tail);
// The object of a failed command: after a begun list the keys not yet printed, which end that object. No output after a
// complete object.
void put_failed_json(const Json& object);

// {"name": ..., "name_hex": ... when it is no UTF-8, "mode": ...} of a logical file.
void add_name(Json& object, const std::string& name, uint32_t mode);

// The first keys of every object of --json.
Json json_head(const char* command, const std::string& file);

// Prints the result of a command: with --json its members behind the first keys, otherwise `text`, unless --quiet.
void put_result(const Common& common, Json head, const Json& members, const std::string& text);

}  // namespace tool
