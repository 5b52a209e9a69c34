// Facts for judging the numbers: hints in effect, what was not measured and why, the machine, the storage, and the
// meaning of the caches.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "methods/page_parts.hpp"

namespace tool::page {
namespace {

void add_pair(std::string& html, const char* name, const std::string& value) {
  if (!value.empty()) html += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", name, value);
}

// A member of an object of the run, of any type; empty: missing.
std::string fact(const Json& run, const char* part, const char* name) {
  const Json* object = &run;
  if (part != nullptr) {
    const auto found = run.find(part);
    if (found == run.end() || !found->is_object()) return {};
    object = &*found;
  }
  const auto found = object->find(name);
  if (found == object->end() || found->is_null()) return {};
  if (found->is_string()) return escaped(found->get<std::string>());
  if (found->is_number_integer() && std::string_view(name).ends_with("_bytes"))
    return escaped(short_size(found->get<int64_t>()));
  return escaped(found->dump(-1, ' ', true, Json::error_handler_t::replace));
}

// Maximum over all launches; "": unknown.
std::string most_nodes(const Results& results) {
  int64_t most = 0;
  for (const Json& launch : results.launches) {
    const auto nodes = launch.find("nodes");
    if (nodes != launch.end() && nodes->is_number_integer()) most = std::max(most, nodes->get<int64_t>());
  }
  return most > 0 ? std::to_string(most) : std::string();
}

void add_machine(std::string& html, const Report& report) {
  const Json& run = report.results().run;
  html += "<dl class=\"facts\">\n";
  add_pair(html, "Machine", fact(run, "machine", "cpu"));
  add_pair(html, "Cores", fact(run, "machine", "cores"));
  add_pair(html, "Memory", fact(run, "machine", "memory_bytes"));
  add_pair(html, "Nodes", most_nodes(report.results()));
  add_pair(html, "Kernel", fact(run, "machine", "kernel"));
  add_pair(html, "Storage", fact(run, "storage", "kind"));
  add_pair(html, "Folder", fact(run, "storage", "path"));
  add_pair(html, "File system", fact(run, "storage", "identity"));
  add_pair(html, "Free", fact(run, "storage", "free_bytes"));
  std::set<std::string> mpi, levels;
  for (const Json& launch : report.results().launches) {
    mpi.insert(fact(launch, nullptr, "mpi"));
    levels.insert(fact(launch, nullptr, "thread_level"));
  }
  for (const std::string& name : mpi) add_pair(html, "MPI", name);
  for (const std::string& level : levels) add_pair(html, "Threads of MPI", level);
  add_pair(html, "Thalweg", fact(run, nullptr, "version"));
  add_pair(html, "Profile of the storage", fact(run, nullptr, "profile"));
  add_pair(html, "Repetitions", fact(run, nullptr, "repetitions"));
  add_pair(html, "Begun", fact(run, nullptr, "begun"));
  add_pair(html, "Took", report.results().seconds > 0 ? fmt::format("{:.0f} s", report.results().seconds) : "");
  add_pair(html, "Command", fact(run, nullptr, "command"));
  html += "</dl>\n";
}

// The meanings of `--cache`, from docs/design/methods.md.
const char* cache_text(std::string_view cache) {
  if (cache == "warm") return "writes go to the page cache, reads come from it: memory, not the device";
  if (cache == "sync") return "a write includes fsync; reads come from the page cache";
  if (cache == "drop") return "a write includes fsync; before a read its pages are dropped from the cache";
  if (cache == "direct")
    return "direct I/O where a method supports it; the others write with fsync and read after a drop";
  return "unknown to this program";
}

// The actual caches of the times: phase, cache, methods.
void add_real_caches(std::string& html, const Report& report) {
  RealCaches found = report.real_caches();
  html += open_table("Actual cache of the times",
                     "<th scope=\"col\" class=\"name\">phase</th><th scope=\"col\">cache</th>"
                     "<th scope=\"col\" class=\"name\">methods</th>");
  html += "<tbody>\n";
  for (const std::string& phase : report.phases()) {
    for (const auto& [cache, methods] : found[phase]) {
      std::string who;
      for (const std::string& id : methods) who += fmt::format("{}{}", who.empty() ? "" : ", ", escaped(id));
      if (found[phase].size() == 1) who = "all";
      html += fmt::format("<tr><th scope=\"row\" class=\"name\">{}</th><td>{}</td><td class=\"name\">{}</td></tr>\n",
                          escaped(phase), escaped(cache), who);
    }
  }
  html += "</tbody></table></div>\n";
}

void add_caches(std::string& html, const Report& report) {
  std::set<std::string> asked;
  for (const Cell& cell : report.cells()) asked.insert(cell.cache);
  if (asked.empty()) return;
  html += "<h3>Meaning of the caches</h3><ul>\n";
  for (const std::string& cache : asked)
    html += fmt::format("<li><code>{}</code>: {}</li>\n", escaped(cache), cache_text(cache));
  if (fact(report.results().run, "storage", "kind") == "tmpfs")
    html += "<li>This storage is tmpfs, which is memory: syncing and dropping have no effect on it.</li>\n";
  html += "</ul>\n";
  add_real_caches(html, report);
}

std::string where_of(const Report& report, const Mishap& mishap) {
  std::string where = mishap.method.empty()                        ? "the run"
                      : report.method(mishap.method).title.empty() ? escaped(mishap.method)
                                                                   : escaped(report.method(mishap.method).title);
  if (!mishap.phase.empty()) where += ", " + escaped(mishap.phase);
  if (mishap.has_cell) where += ", " + escaped(cell_text(mishap.cell));
  return where;
}

void add_list_of(std::string& html, const Report& report, bool failed) {
  bool first = true;
  for (const Mishap& mishap : report.results().mishaps) {
    if (mishap.failed != failed) continue;
    if (first) html += failed ? "<h3>Failed</h3><ul>\n" : "<h3>Skipped</h3><ul>\n";
    first = false;
    html += fmt::format("<li><b>{}</b>: {}</li>\n", where_of(report, mishap), escaped(mishap.message));
  }
  if (!first) html += "</ul>\n";
}

std::string hints_text(const std::map<std::string, std::string>& hints) {
  std::string html;
  for (const auto& [name, value] : hints) html += fmt::format("<code>{}={}</code> ", escaped(name), escaped(value));
  return html;
}

const FactsRecord* find_facts(const Report& report, const std::string& method, const Cell& cell) {
  const auto& facts = report.results().facts;
  const auto found =
      std::ranges::find_if(facts, [&](const FactsRecord& f) { return f.method == method && f.cell == cell; });
  return found == facts.end() ? nullptr : &*found;
}

}  // namespace

void add_hints(std::string& html, const Report& report) {
  html += "<section id=\"hints\" aria-labelledby=\"hints-h\"><h2 id=\"hints-h\">Hints and plans in effect</h2>\n";
  const Cell* cell = largest_cell(report);
  std::vector<std::pair<std::string, std::string>> told;  // equal hints and plan, and their methods
  for (const MethodFound& method : report.methods()) {
    const FactsRecord* facts = cell == nullptr ? nullptr : find_facts(report, method.id, *cell);
    if (facts == nullptr || (facts->hints.empty() && facts->plan.empty())) continue;
    const std::string text = fmt::format("<td class=\"name\">{}</td><td class=\"name\">{}</td>",
                                         hints_text(facts->hints), escaped(facts->plan));
    const auto same = std::ranges::find(told, text, &std::pair<std::string, std::string>::first);
    if (same == told.end()) {
      told.emplace_back(text, escaped(method.title));
    } else {
      same->second += "<br>" + escaped(method.title);
    }
  }
  std::string rows;
  for (const auto& [text, who] : told)
    rows += fmt::format("<tr><th scope=\"row\" class=\"name\">{}</th>{}</tr>\n", who, text);
  if (rows.empty()) {
    html += "<p>No library reported any in this run.</p></section>\n";
    return;
  }
  html += "<details open><summary>Effective hints and plans</summary>\n";
  html += open_table("Cell " + escaped(cell_text(*cell)),
                     "<th scope=\"col\" class=\"name\">method</th><th scope=\"col\" class=\"name\">hints that were in "
                     "effect</th><th scope=\"col\" class=\"name\">reported plan</th>");
  html += "<tbody>\n" + rows + "</tbody></table></div></details></section>\n";
}

void add_mishaps(std::string& html, const Report& report) {
  const bool all_built = std::ranges::all_of(report.methods(), &MethodFound::built);
  if (all_built && report.results().mishaps.empty()) return;
  html += "<section id=\"missing\" aria-labelledby=\"missing-h\"><h2 id=\"missing-h\">Skipped measurements</h2>\n";
  if (!all_built) {
    html += "<h3>Not built</h3><ul>\n";
    for (const MethodFound& method : report.methods()) {
      if (method.built) continue;
      html += fmt::format("<li><b>{}</b>: {}</li>\n", escaped(method.title), escaped(reason_of(method)));
    }
    html += "</ul>\n";
  }
  add_list_of(html, report, true);
  add_list_of(html, report, false);
  html += "</section>\n";
}

void add_facts(std::string& html, const Report& report) {
  html += "<section id=\"facts\" aria-labelledby=\"facts-h\"><h2 id=\"facts-h\">How it was measured</h2>\n";
  add_machine(html, report);
  html +=
      "<p>One repetition writes the array by each method in turn, reads it back on other ranks, on another number of "
      "ranks and by one plain reader, and verifies every byte. The order of the methods changes at random; the first "
      "repetition is an untimed warm-up. A time runs from a barrier to the end of the last rank, including open and "
      "close.</p>\n";
  add_caches(html, report);
  html += "</section>\n";
}

}  // namespace tool::page
