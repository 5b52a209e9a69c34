// Files that were made part of the program when it was built: those of this folder, and Chart.js where it was found.
#pragma once

#include <string_view>

namespace tool {

// `name`: "page.css", "page.js", "snippets/gather.c", ... Empty: there is none of that name.
std::string_view asset(std::string_view name);

// Text of Chart.js (MIT licence, which it carries with it); empty where it was not found: plot_library_absent.cpp.
std::string_view plot_library();

}  // namespace tool
