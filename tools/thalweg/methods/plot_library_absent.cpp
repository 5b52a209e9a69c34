// Without Chart.js at build time pages have tables only.
#include "methods/assets.hpp"

namespace tool {

std::string_view plot_library() { return {}; }

}  // namespace tool
