// Facts about each method beside its times: user code, resulting files, memory, recommended use. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tool {

struct Card {
  std::string_view id;
  std::string_view afterwards;  // the resulting files
  std::string_view memory;      // per rank, beside its block, as a formula
  std::string_view use;         // recommended use
  std::vector<std::string_view> warnings;
};

// One per method, in the order of the table of methods. Static storage.
std::span<const Card> cards();
const Card* find_card(std::string_view id);  // null: unknown id

// The user code in C: snippets/<id>.c, compiled by the tests, or one of these with another word. Empty: none.
std::string snippet(std::string_view id);
// Number of lines without empty ones, comments and lone braces.
int code_lines(std::string_view code);

}  // namespace tool
