// The frame of the page, and functions shared by its sections.
#include "methods/page.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "methods/assets.hpp"
#include "methods/page_parts.hpp"

namespace tool {
namespace {

// Forbids loading scripts or anything else: the page works offline.
constexpr std::string_view kPolicy =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'";

// "</script" ends a script in any context. In JavaScript strings "<\/" equals "</".
void add_script(std::string& html, std::string_view script) {
  static constexpr std::string_view kEnd = "</script";
  html += "<script>\n";
  for (size_t at = script.find(kEnd); at != std::string_view::npos; at = script.find(kEnd)) {
    html += script.substr(0, at);
    html += "<\\/script";
    script.remove_prefix(at + kEnd.size());
  }
  html += script;
  html += "</script>\n";
}

void add_navigation(std::string& html, bool validated) {
  html += "<nav aria-label=\"Sections\"><ul>\n";
  const auto link = [&](const char* id, const char* text) {
    html += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", id, text);
  };
  link("plots", "Plots");
  link("groups", "Groups");
  link("conclusions", "Conclusions");
  if (validated) link("validation", "Model");
  link("medians", "Numbers");
  link("after", "Merging");
  link("footprint", "Memory");
  link("cards", "Methods");
  link("hints", "Hints");
  link("facts", "How");
  html += "</ul></nav>\n";
}

}  // namespace

namespace page {

std::string escaped(std::string_view text) {
  std::string safe = xml_text(text);
  for (size_t at = 0; (at = safe.find('\'', at)) != std::string::npos;) safe.replace(at, 1, "&#39;");
  return safe;
}

std::string badge(Group group) { return fmt::format("<span class=\"badge {0}\">{0}</span>", group_name(group)); }

std::string cell_heading(const std::vector<std::string>& lines) {
  std::string html;
  for (const std::string& line : lines) html += fmt::format("{}{}", html.empty() ? "" : "<br>", escaped(line));
  return html;
}

std::string speed_text(double mib_per_second) {
  return mib_per_second < 99.95 ? fmt::format("{:.1f}", mib_per_second) : fmt::format("{:.0f}", mib_per_second);
}

std::string seconds_text(double seconds) {
  if (seconds < 0.9995) return fmt::format("{:#.3g} ms", seconds * 1e3);
  return fmt::format("{:#.3g} s", seconds);
}

std::string open_table(std::string_view caption, std::string_view columns) {
  return fmt::format(
      "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Table\"><table><caption>{}</caption>\n"
      "<thead><tr>{}</tr></thead>\n",
      caption, columns);
}

const Cell* largest_cell(const Report& report) {
  const auto found = std::ranges::max_element(report.cells(), {},
                                              [](const Cell& cell) { return std::pair(cell.ranks, cell.bytes()); });
  return found == report.cells().end() ? nullptr : &*found;
}

}  // namespace page

PageAssets page_assets() { return {asset("page.css"), asset("page.js"), plot_library()}; }

std::string html_page(const Results& results, std::span<const ValidationPoint> validation) {
  return html_page(results, validation, page_assets());
}

std::string html_page(const Results& results, std::span<const ValidationPoint> validation, const PageAssets& assets) {
  const Report report(results);
  const bool has_library = !assets.plot_library.empty();
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<!-- made by thalweg methods -->\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n"
      "<title>Parallel I/O methods compared</title>\n<style>\n{}</style>\n</head>\n<body>\n",
      kPolicy, assets.style);
  page::add_head(html, report);
  add_navigation(html, !validation.empty());
  html += "<main>\n";
  page::add_plots(html, report, has_library);
  page::add_groups(html, report);
  page::add_conclusions(html, report);
  page::add_validation(html, validation, has_library);
  page::add_medians(html, report);
  page::add_after(html, report);
  page::add_overlap(html, report);
  page::add_footprint(html, report);
  page::add_cards(html, report);
  page::add_hints(html, report);
  page::add_mishaps(html, report);
  page::add_facts(html, report);
  html += fmt::format(
      "</main>\n"
      "<footer><p>Made by <code>thalweg methods</code>. The page is self-contained and loads nothing.{}</p></footer>\n",
      has_library ? " Plots: Chart.js, MIT licence." : "");
  if (has_library) {
    html +=
        fmt::format("<script type=\"application/json\" id=\"data\">{}</script>\n", page::plot_data(report, validation));
    add_script(html, assets.plot_library);
    add_script(html, assets.script);
  }
  return html + "</body>\n</html>\n";
}

}  // namespace tool
