// The top of the page: the task, place and time, and the answer in words.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "methods/method_table.hpp"
#include "methods/page_parts.hpp"

namespace tool::page {
namespace {

// The best of Thalweg relative to the best of the others, over the cells with both.
struct Duel {
  int cells = 0, won = 0;
  double sum = 0;  // of ln(time of theirs / time of ours)
};

Duel duel_of(const Report& report, const std::string& phase) {
  Duel duel;
  for (const Cell& cell : report.cells()) {
    const ResultRow *ours = report.best(phase, cell, 1), *theirs = report.best(phase, cell, 0);
    if (ours == nullptr || theirs == nullptr || ours->seconds.median <= 0 || theirs->seconds.median <= 0) continue;
    ++duel.cells;
    duel.won += ours->seconds.median <= theirs->seconds.median ? 1 : 0;
    duel.sum += std::log(theirs->seconds.median / ours->seconds.median);
  }
  return duel;
}

std::string duel_text(const Duel& duel) {
  if (duel.cells == 0) return {};
  const double ratio = std::exp(duel.sum / duel.cells);
  const std::string how = ratio >= 0.995 && ratio < 1.005 ? std::string("as fast as the best of the others")
                          : ratio >= 1 ? fmt::format("{:.2f} times as fast as the best of the others", ratio)
                                       : fmt::format("slower than the best of the others, {:.2f} times as fast", ratio);
  if (duel.cells == 1) return fmt::format("The best of Thalweg is {}.", how);
  return fmt::format("The best of Thalweg is {} (geometric mean), and no slower in {} of {} cells.", how, duel.won,
                     duel.cells);
}

// The method nearest to the best over all cells, among those measured in most of them.
const GroupedMethod* winner_of(const Grouping& grouping) {
  const auto most = std::ranges::max_element(grouping.methods, {}, &GroupedMethod::cells);
  if (most == grouping.methods.end()) return nullptr;
  const int cells = most->cells;
  return &*std::ranges::find(grouping.methods, cells, &GroupedMethod::cells);
}

const ResultRow* fastest_row(const Report& report, const std::string& method, const std::string& phase) {
  const ResultRow* fastest = nullptr;
  const auto speed = [](const ResultRow& row) { return mib_per_second(row.bytes, row.seconds.median); };
  for (const ResultRow& row : report.rows()) {
    if (row.method != method || row.phase != phase) continue;
    if (fastest == nullptr || speed(row) > speed(*fastest)) fastest = &row;
  }
  return fastest;
}

struct Told {
  const char *phase, *name, *in;
};
constexpr Told kTold[] = {{"write", "Writing", "in writing"},
                          {"read", "Reading", "in reading"},
                          {"restart", "Restart on other ranks", "in a restart on other ranks"},
                          {"serial", "One plain reader", "for one plain reader"}};

void add_tile(std::string& html, const Report& report, const std::string& phase, const char* name) {
  const GroupedMethod* winner = winner_of(report.grouping(phase));
  if (winner == nullptr) return;
  const ResultRow* row = fastest_row(report, winner->id, phase);
  if (row == nullptr) return;
  html += fmt::format(
      "<li class=\"tile\"><span class=\"what\">{}</span><strong>{}</strong><span class=\"id\">{}</span>"
      "<span class=\"speed\">up to {} MiB/s <small>({})</small></span><p>{}</p></li>\n",
      name, escaped(report.method(winner->id).title), escaped(winner->id),
      speed_text(mib_per_second(row->bytes, row->seconds.median)), escaped(cell_text(row->cell)),
      duel_text(duel_of(report, phase)));
}

std::string member_text(const Json& object, const char* name) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  return object.is_object() && found != object.end() && found->is_string() ? escaped(found->get<std::string>())
                                                                           : std::string();
}

// "A in writing and reading, B in ...": the methods nearest to the best over all cells.
std::string winners(const Report& report) {
  std::vector<std::pair<std::string, std::vector<std::string>>> won;
  for (const auto& [phase, name, in] : kTold) {
    const GroupedMethod* winner = winner_of(report.grouping(phase));
    if (winner == nullptr) continue;
    if (won.empty() || won.back().first != winner->id) won.push_back({winner->id, {}});
    won.back().second.emplace_back(in);
  }
  std::string text;
  for (const auto& [id, phases] : won) {
    text += fmt::format("{}<b>{}</b> {}", text.empty() ? "" : "; ", escaped(report.method(id).title),
                        fmt::join(phases, ", "));
  }
  return text;
}

// Among the methods that leave the array itself, the one nearest to the best.
std::string best_global(const Report& report) {
  for (const GroupedMethod& method : report.grouping("write").methods) {
    const methods::MethodInfo* info = methods::find_method(method.id);
    if (info == nullptr || info->outcome != methods::Outcome::global_array) continue;
    return fmt::format(
        " <b>{}</b> is the fastest method that writes the array in its own order: {:.2f} times the shortest write "
        "of each cell.",
        escaped(report.method(method.id).title), method.ratio);
  }
  return {};
}

std::string sentence(const Report& report) {
  const std::string text = winners(report);
  return text.empty() ? text : "Nearest to the best over all cells: " + text + "." + best_global(report);
}

}  // namespace

void add_head(std::string& html, const Report& report) {
  const Results& results = report.results();
  const auto part = [&](const char* name) {
    const auto found = results.run.find(name);
    return found == results.run.end() ? Json() : *found;
  };
  const std::string cpu = member_text(part("machine"), "cpu"), kind = member_text(part("storage"), "kind");
  const std::string path = member_text(part("storage"), "path"), begun = member_text(results.run, "begun");
  html += "<header>\n<p class=\"kicker\">thalweg methods</p>\n<h1>Which way of writing an array is best here?</h1>\n";
  html += fmt::format("<p class=\"where\">{}{}{}{}{}</p>\n", cpu.empty() ? "an unnamed machine" : cpu,
                      kind.empty() ? "" : " · " + kind, path.empty() ? "" : " at " + path, begun.empty() ? "" : " · ",
                      begun);
  const std::string command = member_text(results.run, "command");
  if (!command.empty()) html += fmt::format("<p class=\"command\"><code>{}</code></p>\n", command);
  if (!results.complete)
    html += "<p class=\"warn\" role=\"status\">The run is incomplete: these are the results so far.</p>\n";
  const auto measured =
      std::ranges::count_if(report.methods(), [&](const MethodFound& m) { return report.has_times(m.id); });
  html += fmt::format("<p class=\"verdict\">{} of {} were measured in {}. {}</p>\n", measured,
                      count_text(static_cast<int64_t>(report.methods().size()), "method"),
                      count_text(static_cast<int64_t>(report.cells().size()), "cell"), sentence(report));
  html += "<ul class=\"tiles\">\n";
  for (const auto& [phase, name, in] : kTold) add_tile(html, report, phase, name);
  html += "</ul>\n</header>\n";
}

}  // namespace tool::page
