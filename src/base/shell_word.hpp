// A command that a message proposes can be copied into a shell as it stands.
#pragma once

#include <string>
#include <string_view>

namespace thalweg {

// `path` as one word of a POSIX shell that names the same file: quoted where that is needed, never taken for an option.
std::string shell_word(std::string_view path);

// "`thalweg repair PATH`"
inline std::string repair_command(std::string_view path) { return "`thalweg repair " + shell_word(path) + "`"; }

}  // namespace thalweg
