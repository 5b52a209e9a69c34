// The one table of hints: the source of parsing, ranges, `thalweg hints` and the documentation.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/status.hpp"

namespace thalweg {

enum class HintType { bytes, count, choice, boolean, text };
// Kind of file that a hint is for; a vpfile also takes hints of `file`.
enum class HintScope { multifile, file, vpfile, multifile_or_vpfile, file_or_multifile };

struct HintSpec {
  const char* name;
  HintType type;
  const char* default_value;
  const char* values;  // range or choices separated by '|', shown to people
  const char* help;
  std::uint64_t min = 0, max = ~0ull;  // for bytes and count; words among `values` are allowed besides
  HintScope scope = HintScope::multifile;
};

std::span<const HintSpec> hint_table();  // hints of all scopes

// Fails with unknown_hint when the scope has no hint of that name. The message points out a hint of another scope,
// and proposes one whose name is similar or that another library names so.
Result<const HintSpec*> find_hint(std::string_view name, HintScope scope);

// "name=value,name=value": calls `set` for each, in order, until it fails. A missing value is unknown_hint.
Status for_each_hint(std::string_view text,
                     const std::function<Status(std::string_view name, std::string_view value)>& set);

// A value in the unit of the hint: bytes, count, position of the choice, 0 or 1. For bytes and count a word among
// `values` gives kHintWord + its position; 0 for a text.
inline constexpr std::uint64_t kHintWord = 1ull << 63;
Result<std::uint64_t> parse_hint(const HintSpec& spec, std::string_view text);

}  // namespace thalweg
