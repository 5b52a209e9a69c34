// thalweg map: a picture of the byte ranges of a file and their owners.
#include <fmt/format.h>

#include "command.hpp"
#include "common.hpp"
#include "map_model.hpp"
#include "new_multifile.hpp"
#include "picture_file.hpp"
#include "text.hpp"
#include "vpfile.hpp"

namespace tool {
namespace {

struct Options {
  std::string file, out, format;
  bool force = false;
};

bool wants_html(const Options& options) {
  if (!options.format.empty()) return options.format == "html";
  if (options.out == "-" || options.out.ends_with(".svg")) return false;
  if (options.out.ends_with(".html") || options.out.ends_with(".htm")) return true;
  throw Failure(kUsage, fmt::format("'{}' ends neither in .html nor in .svg; select one with --format", options.out));
}

Json members_of(const Options& options, const Map& map, int code) {
  Json members = {{"kind", map.vpfile ? "vpfile" : "multifile"}, {"out", options.out}, {"closed", map.closed}};
  members[map.vpfile ? "vps" : "logical_files"] = map.n_logical;
  if (!map.vpfile) members["physical_files"] = map.n_physical;
  members.update({{"ranges", map.regions}, {"bytes", map.bytes}, {"exit_code", code}});
  return members;
}

// Whether OUT, which is none of the files that are drawn, replaces a picture.
bool replaces(const Options& options, const std::vector<std::string>& files, const char* what) {
  if (options.out == "-") return false;
  check_folder_of(options.out);
  return may_replace_picture(options.out, options.force, files, what);
}

std::pair<Map, bool> draw_multifile(const Options& options) {
  const auto [multifile, closed] = open_in_any_state(options.file);
  std::vector<std::string> files;
  for (int32_t k = 0; k < multifile.summarize().n_planned; ++k) files.push_back(physical_name(options.file, k));
  const bool replace = replaces(options, files, "physical file of the multifile");
  return {make_map(multifile, options.file, closed), replace};
}

std::pair<Map, bool> draw_vpfile(const Options& options) {
  std::vector<std::string> files;
  for (const char* ending : kVpfileEndings) files.push_back(options.file + ending);
  const bool replace = replaces(options, files, "file of the vpfile");
  return {make_vp_map(options.file), replace};
}

int run(const Options& options, const Common& common) {
  const bool html = wants_html(options);
  if (options.out == "-" && common.json)
    throw Failure(kUsage, "standard output has room for the picture or --json, not both");
  const auto [map, replace] = is_vpfile(options.file) ? draw_vpfile(options) : draw_multifile(options);
  const bool closed = map.closed;
  const std::string picture = html ? html_page(map) : svg_picture(map);
  const int code = closed ? kFine : kDamaged;
  if (options.out == "-") {
    put(picture);
  } else {
    write_picture(options.out, picture, replace);
    put_result(common, json_head("map", options.file), members_of(options, map, code),
               fmt::format("{}: {} drawn\n", printable(options.out), count_text(map.regions, "byte range")));
  }
  if (!closed) report_not_closed(options.file);
  return code;
}

Run add(CLI::App& app) {
  auto options = std::make_shared<Options>();
  plain_word(app.add_option("FILE", options->file, "The multifile or vpfile")->required());
  plain_word(app.add_option("OUT", options->out, "Output file, .svg or .html; '-' is standard output")->required());
  app.add_option("--format", options->format, "Format; default: by the name of OUT")
      ->check(CLI::IsMember({"svg", "html"}));
  app.add_flag("-f,--force", options->force, "Replace OUT even if this command did not make it");
  return [options](const Common& common) { return run(*options, common); };
}

}  // namespace

const Command kMap = {
    "map",
    "Draw the byte ranges and their owners, as SVG or HTML",
    "Shows data by task, frames, unused tails, holes and metadata of each physical file, with a legend; pointing at a "
    "range shows details. When a picture has too many ranges, each spot shows the "
    "majority of its bytes. For an unclosed file the intact part is drawn, and the command exits with 1.\n"
    "\nFor a vpfile the data file is drawn: NB and CB segment, and in each superblock of the IB segment blocks by "
    "virtual processor, unused space, header and table. This reads all superblocks.\n"
    "\nA picture made by this command is replaced, any other file only with --force, and a file of the multifile or "
    "vpfile never.",
    "  command, file, out, closed, exit_code; kind: \"multifile\" or \"vpfile\"\n"
    "  logical_files, physical_files (of a vpfile: vps), ranges: numbers; bytes: of the physical files\n",
    "  thalweg map dump.tw dump.html\n"
    "  thalweg map dump.tw - > dump.svg\n",
    add};

}  // namespace tool
