// thalweg ls: rank, size, mode and name of the logical files, one line each.
#include <fmt/format.h>

#include <algorithm>

#include "command.hpp"
#include "common.hpp"
#include "text.hpp"

namespace tool {
namespace {

struct Options {
  std::string file;
  bool null = false;
};

void list_names(const Multifile& multifile, int64_t n) {
  for (int64_t rank = 0; rank < n; ++rank) {
    put(multifile.name(rank));
    put(std::string_view("\0", 1));
  }
}

void list_lines(const Multifile& multifile, int64_t n) {
  const size_t width = std::max<size_t>(4, std::to_string(n).size());
  for (int64_t rank = 0; rank < n; ++rank) {
    uint32_t mode = 0;
    const std::string name = multifile.name(rank, &mode);
    const std::string shown = name.empty() ? std::string() : "  " + printable(name);
    put(fmt::format("{:>{}}  {:>14}  {:<10}{}\n", rank, width, multifile.bytes(rank), mode_text(mode), shown));
  }
}

// Written piece by piece: a multifile may have millions of logical files.
void list_json(const Multifile& multifile, const Options& options, int64_t n, bool closed) {
  put(fmt::format("{{\"command\": \"ls\", \"file\": {}, \"closed\": {}, \"entries\": [", json_line(options.file),
                  closed));
  for (int64_t rank = 0; rank < n; ++rank) {
    uint32_t mode = 0;
    const std::string name = multifile.name(rank, &mode);
    Json entry;
    entry["rank"] = rank;
    entry["bytes"] = multifile.bytes(rank);
    add_name(entry, name, mode);
    put(rank == 0 ? "\n  " : ",\n  ");
    put(json_line(entry));
  }
  put(fmt::format("\n], \"exit_code\": {}}}\n", static_cast<int>(closed ? kFine : kDamaged)));
}

int run(const Options& options, const Common& common) {
  const auto [multifile, closed] = open_in_any_state(options.file);
  const int64_t n = multifile.summary().n_logical;
  if (common.json) {
    list_json(multifile, options, n, closed);
  } else if (options.null) {
    list_names(multifile, n);
  } else {
    list_lines(multifile, n);
  }
  if (!closed) report_not_closed(options.file);
  return closed ? kFine : kDamaged;
}

Run add(CLI::App& app) {
  auto options = std::make_shared<Options>();
  plain_word(app.add_option("FILE", options->file, "The multifile")->required());
  app.add_flag("-0,--null", options->null, "Only the names, as they are, each ended by a zero byte");
  return [options](const Common& common) { return run(*options, common); };
}

}  // namespace

const Command kLs = {
    "ls",
    "List the logical files: rank, size, mode, name",
    "Bytes of a name that could harm a terminal are shown as \\n, \\x1b and so on, and a backslash is doubled; --null "
    "gives names as they are. Of a file that was not closed, what is whole is listed, and the command ends with 1.",
    "  command, file, closed, exit_code\n"
    "  entries: for each logical file: rank, bytes, name, name_hex (only where the name is no UTF-8), mode (octal, "
    "null "
    "when there is none)\n",
    "  thalweg ls docs.tw\n"
    "  thalweg ls --null docs.tw | grep -z README\n",
    add};

}  // namespace tool
