// The map as SVG, by itself or in a page: each physical file is a block of rows, read from left to right and from top to bottom.
//
// Colours of tasks: Okabe and Ito, "Color Universal Design" (2008), distinguishable with colour vision deficiency.
// Holes and tails differ from data by pattern, not by colour alone.
#include <fmt/format.h>

#include <algorithm>

#include "map_model.hpp"
#include "text.hpp"

namespace tool {
namespace {

constexpr const char* kPalette[] = {"#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442"};
constexpr int64_t kColours = std::size(kPalette);

constexpr double kLeft = 90, kWidth = 1000, kRight = 20, kRowGap = 3, kTitle = 24, kStripGap = 14;
constexpr double kLegendLine = 22, kTop = 34;

double row_height(const Map& map) {
  int64_t rows = 0;
  for (const Strip& strip : map.strips) rows += strip.rows;
  return rows <= 4 ? 34 : rows <= 16 ? 22 : 14;
}

constexpr const char* kManyTasks = "#9fb3c2";

std::string fill_of(int32_t kind, int64_t rank) {
  switch (kind) {
    case TW_REGION_DATA:
      return rank >= 0 ? kPalette[rank % kColours] : "#888888";
    case TW_REGION_TAIL:
      return "url(#tail)";
    case TW_REGION_HOLE:
      return "url(#hole)";
    case TW_REGION_FRAME:
      return "#222222";
    case kRegionNb:
      return "#b8d8c0";
    case kRegionCb:
      return "#d9cfe8";
    default:
      return "#7a5195";  // headers and index
  }
}

std::string owner(const Map& map, const Span& span) {
  if (span.rank < 0) return {};
  if (span.many_tasks()) return fmt::format(" of {}s {} to {}", owner_name(map), span.rank, span.last_rank);
  std::string text = fmt::format(" of {} {}", owner_name(map), span.rank);
  const bool named = span.rank < std::ssize(map.names) && !map.names[static_cast<size_t>(span.rank)].empty();
  if (named) text += fmt::format(" '{}'", map.names[static_cast<size_t>(span.rank)]);
  return text;
}

std::string file_name(const Map& map, const Strip& strip) {
  return map.vpfile ? "the data file" : fmt::format("physical file {}", strip.physical);
}

std::string tooltip(const Map& map, const Strip& strip, const Span& span) {
  const std::string what = region_name(map, span.kind) + owner(map, span);
  const std::string where = fmt::format("bytes {} to {} of {}, {}", span.offset, span.offset + span.bytes - 1,
                                        file_name(map, strip), short_size(span.bytes));
  if (strip.exact) return fmt::format("{}: {}", what, where);
  return fmt::format("mostly {}: {}, {}", what, where, count_text(span.regions, "range"));
}

// A span may continue over several rows.
void draw_span(std::string& svg, const Map& map, const Strip& strip, const Span& span, double top, double least_width) {
  const int64_t per_row = strip.bytes_per_row();
  const double height = row_height(map);
  const std::string title = xml_text(tooltip(map, strip, span));
  for (int64_t at = span.offset; at < span.offset + span.bytes;) {
    const int64_t row = at / per_row;
    const int64_t end = std::min((row + 1) * per_row, span.offset + span.bytes);
    const double scale = kWidth / static_cast<double>(per_row);
    const double x = static_cast<double>(at - row * per_row) * scale;
    const double width = std::min(std::max(static_cast<double>(end - at) * scale, least_width), kWidth - x);
    svg += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.1f}\" fill=\"{}\"><title>{}</title></rect>\n",
        kLeft + x, top + static_cast<double>(row) * (height + kRowGap), std::max(width, 0.0), height,
        span.many_tasks() ? kManyTasks : fill_of(span.kind, span.rank), title);
    at = end;
  }
}

bool is_small_metadata(int32_t kind) {
  return kind == TW_REGION_FRAME || kind == TW_REGION_HEADER || kind == TW_REGION_INDEX;
}

// Returns the position of the next strip.
double draw_strip(std::string& svg, const Map& map, const Strip& strip, double top) {
  const double height = row_height(map);
  svg += fmt::format("<text x=\"{}\" y=\"{:.1f}\" class=\"head\">{}: {}, {}</text>\n", kLeft, top + 15,
                     file_name(map, strip), short_size(strip.bytes), count_text(strip.regions, "range"));
  top += kTitle;
  for (int64_t row = 0; row < strip.rows && strip.bytes > 0; ++row) {
    const double y = top + static_cast<double>(row) * (height + kRowGap);
    svg += fmt::format("<text x=\"{}\" y=\"{:.1f}\" class=\"offset\">{}</text>\n", kLeft - 8, y + height / 2 + 4,
                       short_size(row * strip.bytes_per_row()));
  }
  // Frames are thin: drawn over the data, at least a pixel wide, they mark the beginnings of chunks.
  for (const Span& span : strip.spans) {
    if (!strip.exact || !is_small_metadata(span.kind)) draw_span(svg, map, strip, span, top, 0.5);
  }
  for (const Span& span : strip.spans) {
    if (strip.exact && is_small_metadata(span.kind)) draw_span(svg, map, strip, span, top, 1.0);
  }
  return top + static_cast<double>(strip.rows) * (height + kRowGap) + kStripGap;
}

void legend_item(std::string& svg, double x, double y, const std::string& fill, const std::string& text) {
  svg += fmt::format(
      "<rect x=\"{:.0f}\" y=\"{:.0f}\" width=\"14\" height=\"14\" fill=\"{}\" stroke=\"#666\" stroke-width=\"0.5\"/>"
      "<text x=\"{:.0f}\" y=\"{:.0f}\">{}</text>\n",
      x, y, fill, x + 20, y + 12, xml_text(text));
}

double draw_legend(std::string& svg, const Map& map, double y) {
  const bool coloured = !map.vpfile || map.by_kind[TW_REGION_DATA] > 0;
  const int64_t shown = coloured ? std::min(map.n_logical, kColours) : 0;
  const double step = kWidth / static_cast<double>(kColours);
  for (int64_t i = 0; i < shown; ++i) {
    const bool many = map.n_logical > kColours;
    const std::string more = i + kColours < map.n_logical ? fmt::format(", {}, …", i + kColours) : "";
    legend_item(svg, kLeft + static_cast<double>(i) * step, y, kPalette[i],
                fmt::format("{}{} {}{}", owner_name(map), many && !more.empty() ? "s" : "", i, more));
  }
  if (shown > 0) y += kLegendLine;
  int place = 0;
  const bool many = std::ranges::any_of(map.strips, [](const Strip& strip) {
    return !strip.exact || std::ranges::any_of(strip.spans, &Span::many_tasks);
  });
  if (many) legend_item(svg, kLeft, y, kManyTasks, fmt::format("several {}s in one spot", owner_name(map)));
  if (many) y += kLegendLine;
  for (const int32_t kind : {kRegionNb, kRegionCb}) {
    if (!map.vpfile) continue;
    legend_item(svg, kLeft + 250.0 * place++, y, fill_of(kind, -1),
                fmt::format("{}: {}", region_name(map, kind), short_size(map.by_kind[static_cast<size_t>(kind)])));
  }
  if (map.vpfile) {
    y += kLegendLine;
    place = 0;
  }
  for (const int32_t kind : {TW_REGION_FRAME, TW_REGION_TAIL, TW_REGION_HOLE, TW_REGION_INDEX}) {
    int64_t bytes = map.by_kind[static_cast<size_t>(kind)];
    if (kind == TW_REGION_INDEX) bytes += map.by_kind[TW_REGION_HEADER];
    const std::string name = kind == TW_REGION_INDEX                ? (map.vpfile ? "headers" : "headers and index")
                             : map.vpfile && kind == TW_REGION_TAIL ? "unused room"
                                                                    : region_name(map, kind) + "s";
    legend_item(svg, kLeft + 250.0 * place++, y, fill_of(kind, -1), fmt::format("{}: {}", name, short_size(bytes)));
  }
  return y + kLegendLine + 8;
}

std::string headline(const Map& map) {
  if (map.vpfile) {
    return fmt::format("{}: {} in {}{}", printable(map.file), count_text(map.n_logical, "virtual processor"),
                       short_size(map.bytes), map.closed ? "" : "; NOT CLOSED");
  }
  return fmt::format("{}: {} in {}, {} of data in {}{}", printable(map.file), count_text(map.n_logical, "logical file"),
                     count_text(map.n_physical, "physical file"), short_size(map.by_kind[TW_REGION_DATA]),
                     short_size(map.bytes), map.closed ? "" : "; NOT CLOSED");
}

constexpr const char* kStyleAndPatterns =
    "<style>text{font:12px "
    "sans-serif;fill:#222}.head{font-weight:bold}.offset{font-size:10px;text-anchor:end;fill:#555}"
    ".title{font-size:15px;font-weight:bold}</style>\n"
    "<defs><pattern id=\"tail\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">"
    "<rect width=\"6\" height=\"6\" fill=\"#e4e4e4\"/><path d=\"M-1,1 l2,-2 M0,6 l6,-6 M5,7 l2,-2\" "
    "stroke=\"#999\"/></pattern>"
    "<pattern id=\"hole\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\">"
    "<rect width=\"8\" height=\"8\" fill=\"#fafafa\"/><circle cx=\"4\" cy=\"4\" r=\"0.8\" "
    "fill=\"#bbb\"/></pattern></defs>\n";

}  // namespace

std::string svg_picture(const Map& map) {
  std::string body;
  double y = draw_legend(body, map, kTop);
  for (const Strip& strip : map.strips) y = draw_strip(body, map, strip, y);
  if (map.n_physical > static_cast<int32_t>(map.strips.size())) {
    body += fmt::format("<text x=\"{}\" y=\"{:.0f}\">… and {} more physical files</text>\n", kLeft, y + 12,
                        map.n_physical - static_cast<int32_t>(map.strips.size()));
    y += kLegendLine;
  }
  const double width = kLeft + kWidth + kRight;
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
      "{1:.0f}\">{6}\n"
      "<title>{2}</title>\n{3}<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
      "<text x=\"{4}\" y=\"20\" class=\"title\">{2}</text>\n{5}</svg>\n",
      width, y + 6, xml_text(headline(map)), kStyleAndPatterns, kLeft, body, kMapMark);
}

std::string html_page(const Map& map) {
  const std::string warning =
      fmt::format("<p><strong>Not closed: only the intact part is shown. Run: thalweg repair {}</strong></p>\n",
                  xml_text(shell_word(map.file)));
  return fmt::format(
      "<!DOCTYPE html>\n{1}\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"/><title>Map of {0}</title>\n"
      "<style>body{{font:14px sans-serif;margin:1.5em;color:#222;background:#fff}}svg{{max-width:100%;height:auto}}"
      "</style></head>\n<body>\n<h1>Map of {0}</h1>\n{2}"
      "<p>Each row continues the one above. Point at a range for details.</p>\n{3}</body>\n</html>\n",
      xml_text(map.file), kMapMark, map.closed ? "" : warning, svg_picture(map));
}

}  // namespace tool
