// Quotes commands in messages, so that they can be copied into a shell.
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>

namespace thalweg {

// `path` as one word of a POSIX shell: quoted where needed, and never read as an option.
std::string shell_word(std::string_view path);

// "`thalweg repair PATH`"
inline std::string repair_command(std::string_view path) {
  return fmt::format("`thalweg repair {}`", shell_word(path));
}

inline std::string drain_command(std::string_view tier) { return fmt::format("`thalweg drain {}`", shell_word(tier)); }

}  // namespace thalweg
