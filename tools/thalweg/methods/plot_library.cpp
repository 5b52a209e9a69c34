// Chart.js was found when the program was built.
#include "methods/assets.hpp"

namespace tool {

std::string_view plot_library() { return asset("chart.js"); }

}  // namespace tool
