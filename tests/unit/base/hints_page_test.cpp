// Compares docs/howto/hints.md with the table of hints: each hint with its values, and no other hint.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "base/hint_table.hpp"

namespace thalweg {
namespace {

std::string page() {
  std::ifstream in(TW_TESTS_DIR "/../docs/howto/hints.md");
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string escaped(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, "\\");
  return text;
}

std::string row_of(const HintSpec& spec) {
  const char* types[] = {"bytes", "count", "choice", "bool", "text"};
  return std::string("| `") + spec.name + "` | " + types[static_cast<int>(spec.type)] + " | " + spec.default_value +
         " | " + escaped(spec.values) + " | " + escaped(spec.help) + " |\n";
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += what.size()) ++n;
  return n;
}

TEST(HintsPage, SaysWhatTheTableSays) {
  const std::string text = page();
  for (const HintSpec& spec : hint_table()) {
    EXPECT_EQ(count(text, row_of(spec)), 1U) << "docs/howto/hints.md lacks the row\n" << row_of(spec);
    EXPECT_EQ(count(text, std::string("\n## ") + spec.name + "\n\n"), 1U) << "and when to change " << spec.name;
  }
  EXPECT_EQ(count(text, "\n| `"), hint_table().size()) << "rows of hints that are gone";
  EXPECT_EQ(count(text, "\n## "), hint_table().size()) << "sections of hints that are gone";
}

}  // namespace
}  // namespace thalweg
