// The map as a page: the picture, a table of the physical files, a table of the logical files. One file, without
// scripts.
#include <fmt/format.h>

#include "map_model.hpp"
#include "text.hpp"

namespace tool {
namespace {

constexpr const char* kStyle =
    "body{font:14px sans-serif;margin:1.5em;color:#222;background:#fff}table{border-collapse:collapse;margin:1em 0}"
    "th,td{padding:.2em .8em;border-bottom:1px solid #ddd;text-align:right}.name{text-align:left}"
    "svg{max-width:100%;height:auto}caption{text-align:left;font-weight:bold;padding:.4em "
    "0}.warn{color:#a33;font-weight:bold}";

std::vector<int32_t> kinds_of(const Map& map) {
  if (map.vpfile)
    return {kRegionNb, kRegionCb, TW_REGION_DATA, TW_REGION_TAIL, TW_REGION_FRAME, TW_REGION_HEADER, TW_REGION_HOLE};
  return {TW_REGION_DATA, TW_REGION_FRAME, TW_REGION_TAIL, TW_REGION_HOLE, TW_REGION_INDEX, TW_REGION_HEADER};
}

void physical_row(std::string& page, const Map& map, const std::string& name, int64_t bytes, const KindBytes& by_kind,
                  int64_t regions) {
  page += fmt::format("<tr><td>{}</td><td>{}</td>", name, short_size(bytes));
  for (const int32_t kind : kinds_of(map))
    page += fmt::format("<td>{}</td>", short_size(by_kind[static_cast<size_t>(kind)]));
  page += fmt::format("<td>{}</td></tr>\n", regions);
}

void physical_table(std::string& page, const Map& map) {
  page += fmt::format("<table><caption>{}</caption>\n<tr><th>file</th><th>bytes</th>",
                      map.vpfile ? "Data file" : "Physical files");
  for (const int32_t kind : kinds_of(map)) page += fmt::format("<th>{}</th>", region_name(map, kind));
  page += "<th>ranges</th></tr>\n";
  for (const Strip& strip : map.strips) {
    physical_row(page, map, std::to_string(strip.physical), strip.bytes, strip.by_kind, strip.regions);
  }
  if (!map.vpfile) physical_row(page, map, fmt::format("all {}", map.n_physical), map.bytes, map.by_kind, map.regions);
  page += "</table>\n";
}

void vp_table(std::string& page, const Map& map) {
  if (map.tasks.empty()) return;
  page += "<table><caption>Streams</caption>\n<tr><th>VP</th><th>bytes</th></tr>\n";
  for (const TaskRow& task : map.tasks) page += fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", task.rank, task.bytes);
  page += "</table>\n";
  const int64_t more = map.n_logical - static_cast<int64_t>(map.tasks.size());
  if (more > 0) page += fmt::format("<p>… and {} more; <code>thalweg info --tasks</code> lists all.</p>\n", more);
}

void task_table(std::string& page, const Map& map) {
  if (map.vpfile) return vp_table(page, map);
  page +=
      "<table><caption>Logical files</caption>\n<tr><th>task</th><th>bytes</th><th>ranges</th><th "
      "class=\"name\">name</th></tr>\n";
  for (const TaskRow& task : map.tasks) {
    page += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td class=\"name\">{}</td></tr>\n", task.rank, task.bytes,
                        task.regions, xml_text(task.name));
  }
  page += "</table>\n";
  const int64_t more = map.n_logical - static_cast<int64_t>(map.tasks.size());
  if (more > 0) page += fmt::format("<p>… and {} more; <code>thalweg ls</code> lists all.</p>\n", more);
}

}  // namespace

std::string html_page(const Map& map) {
  std::string page = fmt::format(
      "<!DOCTYPE html>\n{2}\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"/><title>Map of {0}</title>\n"
      "<style>{1}</style></head>\n<body>\n<h1>Map of {0}</h1>\n",
      xml_text(map.file), kStyle, kMapMark);
  if (!map.closed) {
    page += fmt::format("<p class=\"warn\">Not closed: only the intact part is shown. Run: thalweg repair {}</p>\n",
                        xml_text(shell_word(map.file)));
  }
  page += "<p>Each row continues the one above. Point at a range for details.</p>\n";
  page += svg_picture(map);
  physical_table(page, map);
  task_table(page, map);
  return page + "</body>\n</html>\n";
}

}  // namespace tool
