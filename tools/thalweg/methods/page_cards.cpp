// A card for each method: code, file, memory, recommended use.
#include <fmt/format.h>

#include <ranges>

#include "methods/cards.hpp"
#include "methods/page_parts.hpp"

namespace tool::page {
namespace {

const FactsRecord* facts_of(const Report& report, const std::string& id) {
  const FactsRecord* largest = nullptr;
  for (const FactsRecord& facts : report.results().facts) {
    if (facts.method != id) continue;
    const auto size = [](const FactsRecord& f) { return std::pair(f.cell.ranks, f.cell.bytes()); };
    if (largest == nullptr || size(facts) > size(*largest)) largest = &facts;
  }
  return largest;
}

void add_badges(std::string& html, const Report& report, const std::string& id) {
  html += "<p class=\"badges\">";
  for (const std::string& phase : report.phases()) {
    const GroupedMethod* found = phase == "overlap" ? nullptr : report.grouping(phase).find(id);
    if (found != nullptr) html += fmt::format("<span class=\"in\">{} {}</span> ", escaped(phase), badge(found->group));
  }
  html += "</p>\n";
}

void add_entry(std::string& html, const char* name, const std::string& value) {
  html += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", name, value);
}

void add_known(std::string& html, const Report& report, const MethodFound& method, const Card* card) {
  html += "<dl>\n";
  if (!method.library.empty()) add_entry(html, "Library", escaped(method.library));
  if (card != nullptr) {
    add_entry(html, "Afterwards", escaped(card->afterwards));
    add_entry(html, "Memory", escaped(card->memory));
  }
  if (const FactsRecord* facts = facts_of(report, method.id); facts != nullptr) {
    add_entry(html, "Measured",
              fmt::format("{} of a rank, {} (array of {} on {})", short_size(facts->memory_bytes),
                          count_text(facts->files, "file"), short_size(facts->cell.bytes()),
                          count_text(facts->cell.ranks, "rank")));
  }
  if (card != nullptr) {
    add_entry(html, "Use it for", escaped(card->use));
    std::string warnings;
    for (const std::string_view warning : card->warnings) warnings += fmt::format("<li>{}</li>", escaped(warning));
    if (!warnings.empty()) add_entry(html, "Beware", "<ul>" + warnings + "</ul>");
  }
  html += "</dl>\n";
}

void add_card(std::string& html, const Report& report, const MethodFound& method) {
  html += fmt::format(
      "<article class=\"card{}\" id=\"m-{}\"><h3><span class=\"number\">{}</span> {}</h3>\n<p class=\"id\">{}</p>\n",
      is_ours(method.id) ? " ours" : "", method.number, method.number, escaped(method.title), escaped(method.id));
  if (!method.built) html += "<p class=\"warn\">Not built here.</p>\n";
  add_badges(html, report, method.id);
  add_known(html, report, method, find_card(method.id));
  if (const std::string code = snippet(method.id); !code.empty()) {
    std::string text;  // escaped() puts it on one line
    for (const auto line : std::views::split(code, '\n'))
      text += escaped(std::string_view(line.begin(), line.end())) + "\n";
    text.resize(text.find_last_not_of('\n') + 1);
    html +=
        fmt::format("<details><summary>{} of C to write</summary><pre tabindex=\"0\"><code>{}</code></pre></details>\n",
                    count_text(code_lines(code), "line"), text);
  }
  html += "</article>\n";
}

}  // namespace

void add_cards(std::string& html, const Report& report) {
  html +=
      "<section id=\"cards\" aria-labelledby=\"cards-h\"><h2 id=\"cards-h\">The methods</h2>\n"
      "<p>A is the array in bytes, B the block of one rank. Lines of code are counted without empty lines, comments, "
      "lone braces and error checks, for all methods alike.</p>\n"
      "<div class=\"cards\">\n";
  for (const MethodFound& method : report.methods()) add_card(html, report, method);
  html += "</div></section>\n";
}

}  // namespace tool::page
