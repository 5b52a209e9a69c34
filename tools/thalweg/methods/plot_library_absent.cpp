// Chart.js was not found when the program was built: pages have tables alone.
#include "methods/assets.hpp"

namespace tool {

std::string_view plot_library() { return {}; }

}  // namespace tool
