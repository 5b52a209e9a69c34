// Chart.js, as found at build time.
#include "methods/assets.hpp"

namespace tool {

std::string_view plot_library() { return asset("chart.js"); }

}  // namespace tool
