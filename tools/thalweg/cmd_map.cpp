// thalweg map: a picture of which byte ranges belong to whom.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>

#include "command.hpp"
#include "common.hpp"
#include "map_model.hpp"
#include "text.hpp"

namespace tool {
namespace {

struct Options {
  std::string file, out, format;
};

bool wants_html(const Options& options) {
  if (!options.format.empty()) return options.format == "html";
  if (options.out == "-" || options.out.ends_with(".svg")) return false;
  if (options.out.ends_with(".html") || options.out.ends_with(".htm")) return true;
  throw Failure(kUsage, fmt::format("'{}' ends neither in .html nor in .svg; say which with --format", options.out));
}

// Something else than a picture, above all the multifile itself, is not replaced.
void check_old_picture(const std::string& path) {
  const Descriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return;
  char begin[16] = {};
  const ssize_t got = read(fd.get(), begin, sizeof begin - 1);
  std::string head(begin, got > 0 ? static_cast<std::size_t>(got) : 0);
  std::transform(head.begin(), head.end(), head.begin(), [](unsigned char c) { return std::tolower(c); });
  if (head.empty() || head.starts_with("<svg") || head.starts_with("<?xml") || head.starts_with("<!doctype")) return;
  throw Failure(kUnsafe, fmt::format("refused: '{}' is there already and is no picture; choose another name, or remove "
                                     "it first",
                                     path));
}

// The old picture stays until the new one is complete.
void write_file(const std::string& path, const std::string& text) {
  struct stat status = {};
  if (lstat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    throw Failure(kUnsafe, fmt::format("refused: '{}' is there already and is no regular file", path));
  }
  check_old_picture(path);
  const std::string passing = fmt::format("{}.part-{}", path, getpid());
  const Descriptor fd(open(passing.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!fd) fail_with_errno("make", passing);
  if (!write_all(fd.get(), text.data(), text.size()) || std::rename(passing.c_str(), path.c_str()) != 0) {
    const int number = errno;
    unlink(passing.c_str());
    errno = number;
    fail_with_errno("write", path);
  }
}

void print_json(const Options& options, const Map& map, int code) {
  Json object = json_head("map", options.file);
  object["out"] = options.out;
  object["closed"] = map.closed;
  object["logical_files"] = map.n_logical;
  object["physical_files"] = map.n_physical;
  object["ranges"] = map.regions;
  object["bytes"] = map.bytes;
  object["exit_code"] = code;
  put_json(object);
}

int run(const Options& options, const Common& common) {
  const bool html = wants_html(options);
  if (options.out == "-" && common.json) throw Failure(kUsage, "standard output takes the picture or --json, not both");
  const auto [multifile, closed] = open_in_any_state(options.file);
  const Map map = make_map(multifile, options.file, closed);
  const std::string picture = html ? html_page(map) : svg_picture(map);
  const int code = closed ? kFine : kDamaged;
  if (options.out == "-") {
    put(picture);
  } else {
    write_file(options.out, picture);
  }
  if (common.json) {
    print_json(options, map, code);
  } else if (options.out != "-" && !common.quiet) {
    put(fmt::format("{}: {} drawn\n", printable(options.out), count_text(map.regions, "byte range")));
  }
  if (!closed) report_not_closed(options.file);
  return code;
}

Run add(CLI::App& app) {
  auto options = std::make_shared<Options>();
  plain_word(app.add_option("FILE", options->file, "The multifile")->required());
  plain_word(app.add_option("OUT", options->out, "The picture to be written, .svg or .html; '-' is standard output")
                 ->required());
  app.add_option("--format", options->format, "Kind of picture, where the name of OUT does not tell")
      ->check(CLI::IsMember({"svg", "html"}));
  return [options](const Common& common) { return run(*options, common); };
}

}  // namespace

const Command kMap = {
    "map",
    "Draw which byte ranges belong to whom, as SVG or HTML",
    "Shows data by task, frames, unused tails, holes and metadata of each physical file, with a legend; pointing at a "
    "range "
    "tells more. The HTML page also has tables. Where there are too many ranges for a picture, each spot shows what "
    "most "
    "of its bytes are. An existing picture is replaced. Of a file that was not closed, what is whole is drawn, and the "
    "command ends with 1.",
    "  command, file, out, closed, exit_code\n"
    "  logical_files, physical_files, ranges: numbers; bytes: of the physical files\n",
    "  thalweg map dump.tw dump.html\n"
    "  thalweg map dump.tw - > dump.svg\n",
    add};

}  // namespace tool
