// The sections of the page in order; each appends itself. All text from records goes through escaped().
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "methods/page.hpp"
#include "methods/report.hpp"

namespace tool::page {

void add_head(std::string& html, const Report& report);                          // title, where and when, in words
void add_plots(std::string& html, const Report& report, bool has_library);       // page_plots.cpp
void add_groups(std::string& html, const Report& report);                        // page_groups.cpp
void add_conclusions(std::string& html, const Report& report);                   // page_groups.cpp
void add_validation(std::string& html, std::span<const ValidationPoint> points,  // page_validation.cpp
                    bool has_library);
void add_medians(std::string& html, const Report& report);    // page_tables.cpp
void add_after(std::string& html, const Report& report);      // page_tables.cpp: write and merge
void add_overlap(std::string& html, const Report& report);    // page_tables.cpp
void add_footprint(std::string& html, const Report& report);  // page_tables.cpp: memory, files
void add_cards(std::string& html, const Report& report);      // page_cards.cpp
void add_hints(std::string& html, const Report& report);      // page_facts.cpp
void add_mishaps(std::string& html, const Report& report);    // page_facts.cpp
void add_facts(std::string& html, const Report& report);      // page_facts.cpp: machine, storage, caches

// The input of page.js: JSON without '<', '>' and '&'.
std::string plot_data(const Report& report, std::span<const ValidationPoint> points);

// Any bytes as HTML text, valid also within quotes.
std::string escaped(std::string_view text);
// <span class="badge ...">efficient</span>
std::string badge(Group group);
std::string cell_heading(const std::vector<std::string>& lines);  // lines of CellHeadings as HTML
std::string speed_text(double mib_per_second);                    // "1234", "12.3"
std::string seconds_text(double seconds);                         // "12.3 ms"
// A scrollable box for a wide table; close it with "</table></div>\n". `caption`, `columns`: HTML.
std::string open_table(std::string_view caption, std::string_view columns);
// The cell whose memory and files are shown: most ranks, then most bytes. Null: none.
const Cell* largest_cell(const Report& report);

}  // namespace tool::page
