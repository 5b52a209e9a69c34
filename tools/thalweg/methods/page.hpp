// The results of a run as one self-contained HTML page. Generated from Results alone, so that it can be regenerated
// from a file of records.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "methods/results.hpp"
#include "methods/validation_summary.hpp"

namespace tool {

// With points the page also has the plot of predicted against measured times.
std::string html_page(const Results& results, std::span<const ValidationPoint> validation = {});

// Embedded parts of the page. `plot_library`: Chart.js; empty: the page has only tables and says so.
struct PageAssets {
  std::string_view style, script, plot_library;
};
PageAssets page_assets();  // those found at build time
std::string html_page(const Results& results, std::span<const ValidationPoint> validation, const PageAssets& assets);

}  // namespace tool
