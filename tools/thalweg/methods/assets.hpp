// Files embedded at build time: those of this folder, and Chart.js where installed.
#pragma once

#include <string_view>

namespace tool {

// `name`: "page.css", "page.js", "snippets/gather.c", ... Empty: unknown name.
std::string_view asset(std::string_view name);

// Text of Chart.js with its MIT licence; empty when not found at build time: plot_library_absent.cpp.
std::string_view plot_library();

}  // namespace tool
