// What is known of each method beside its times: the code that its user writes, what lies on the disk afterwards, the
// memory it needs, when to use it. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tool {

struct Card {
  std::string_view id;
  std::string_view afterwards;  // what the file looks like
  std::string_view memory;      // of one rank, beside its block, as a formula
  std::string_view use;         // when to
  std::vector<std::string_view> warnings;
};

// One for each method of the table of methods, in its order. Static storage.
std::span<const Card> cards();
const Card* find_card(std::string_view id);  // null: there is none

// The code of a user in C, as it is compiled by the tests: snippets/<id>.c. Empty: there is none.
std::string_view snippet(std::string_view id);
// Its lines without empty ones, comments and lone braces.
int code_lines(std::string_view code);

}  // namespace tool
