// The results of a run as one page of HTML that needs nothing else: no network, no other file. Made of Results alone,
// so that it can be made anew from a file of records.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "methods/results.hpp"
#include "methods/validation_summary.hpp"

namespace tool {

// With points the page also has the plot of predicted against measured.
std::string html_page(const Results& results, std::span<const ValidationPoint> validation = {});

// What the page carries with it. `plot_library`: Chart.js; empty: the page has its tables, and says that plots are
// missing.
struct PageAssets {
  std::string_view style, script, plot_library;
};
PageAssets page_assets();  // those that were there when this program was built
std::string html_page(const Results& results, std::span<const ValidationPoint> validation, const PageAssets& assets);

}  // namespace tool
