// thalweg ls: rank, size, mode and name of the logical files, one line each.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "command.hpp"
#include "common.hpp"
#include "progress.hpp"
#include "text.hpp"

namespace tool {
namespace {

struct Options {
  std::string file;
  std::vector<std::string> names;
  bool null = false;
};

// Ranks listed together.
struct Entry {
  int64_t rank, last;
  int64_t bytes = 0;
  std::string name = {};
  uint32_t mode = 0;
  int64_t part = -1;
  tw_status status = TW_OK;  // reason when unreadable
  std::string message = {};
};

// Prints an entry.
using Print = void (*)(const Entry& entry, size_t width);

void print_name(const Entry& entry, size_t) {
  if (entry.last != entry.rank) return;
  put(entry.name);
  put(std::string_view("\0", 1));
}

void print_line(const Entry& entry, size_t width) {
  if (entry.status != TW_OK) return;  // reported on standard error
  std::string shown = entry.name.empty() ? std::string() : "  " + printable(entry.name);
  if (entry.part >= 0) shown += fmt::format(" (part {})", entry.part);
  put(fmt::format("{:>{}}  {:>14}  {:<10}{}\n", ranks_text(entry.rank, entry.last), width, entry.bytes,
                  mode_text(entry.mode), shown));
}

void print_json(const Entry& entry, size_t) {
  Json object;
  object["rank"] = entry.rank;
  if (entry.last != entry.rank) object["last_rank"] = entry.last;
  if (entry.status != TW_OK) {
    object["error"] = {{"status", tw_status_name(entry.status)}, {"message", entry.message}};
  } else {
    object["bytes"] = entry.bytes;
    add_name(object, entry.name, entry.mode);
    if (entry.part >= 0) object["part"] = entry.part;
  }
  put_json_item(object);
}

// The entry of one rank, or why it is unreadable.
Entry entry_of(const Multifile& multifile, int64_t rank) {
  Entry entry{rank, rank};
  try {
    entry.name = multifile.name(rank, &entry.mode);
    entry.bytes = multifile.bytes(rank);
    if (!entry.name.empty()) entry.part = multifile.part(rank);
  } catch (const Failure& failure) {
    if (!is_loss(failure.status)) throw;
    entry.status = failure.status;
    entry.message = failure.what();
  }
  return entry;
}

// Returns whether every entry was readable. Prints each one before it reads the next.
bool list(const Multifile& multifile, const Options& options, Print print) {
  bool whole = true;
  OneByOne one_by_one;
  const int64_t n = multifile.summarize().n_logical;
  const size_t width = std::max<size_t>(4, std::to_string(n).size());
  const auto list_one = [&](const Entry& entry) {
    print(entry, width);
    if (entry.status == TW_OK) return;
    whole = false;
    flush_output();
    say(fmt::format("task {}: {}", ranks_text(entry.rank, entry.last), entry.message));
  };
  for_chosen(multifile, options.file, options.names, whole, [&](int64_t rank) { list_one(entry_of(multifile, rank)); });
  for (int64_t rank = options.names.empty() ? 0 : n, i = 0; rank < n; ++i) {
    note_work("ls", rank, n, "logical files");
    if (i % 256 == 0) stop_if_interrupted();
    const Alike alike = multifile.alike(rank);
    const Entry lost{rank, alike.last, 0, {}, 0, -1, alike.status, alike.message};
    const bool alone = alike.last == rank;
    if (!alike.lost() && !alone && one_by_one.takes(alike.last - rank + 1)) {
      for (int64_t empty = rank; empty <= alike.last; ++empty) print({empty, empty}, width);
    } else {
      list_one(alike.lost() || !alone ? lost : entry_of(multifile, rank));
    }
    rank = alike.last + 1;
  }
  return whole;
}

int run(const Options& options, const Common& common) {
  const auto [multifile, closed] = open_in_any_state(options.file);
  int code = closed ? kFine : kDamaged;
  const Print print = common.json ? print_json : options.null ? print_name : print_line;
  if (common.json) {
    Json head = json_head("ls", options.file);
    head["closed"] = closed;
    begin_json_list(head, "entries");
  }
  if (!list(multifile, options, print)) code = kDamaged;
  if (common.json) end_json_list({{"exit_code", code}});
  if (!closed) report_not_closed(options.file);
  return code;
}

Run add(CLI::App& app) {
  auto options = std::make_shared<Options>();
  plain_word(app.add_option("FILE", options->file, "The multifile")->required());
  plain_word(app.add_option("NAME", options->names, "Only these names, directories, or patterns with * ? [...]"));
  app.add_flag("-0,--null", options->null, "Only the names, unescaped, each terminated by a zero byte");
  return [options](const Common& common) { return run(*options, common); };
}

}  // namespace

const Command kLs = {
    "ls",
    "List the logical files: rank, size, mode, name, part",
    "Without NAME all are listed. NAME is that of a file, the last one where several have it, or NAME.PART, or that of "
    "a directory with all below it, or a pattern as of a shell, in which * and ? match '/' too; one that matches "
    "nothing is an error.\n"
    "\nBytes of a name that a terminal would interpret are printed as \\n"
    ", \\x1b and so on, and a backslash is doubled; --null prints names unescaped. For an unclosed file the intact "
    "part is listed, and the command exits with 1.\n"
    "\nAn unreadable entry is reported on standard error; the others are listed, and the command exits with 1. When "
    "more than 1000 ranks have no stored data, consecutive ones share a line FIRST-LAST; --null omits them.",
    "  command, file, closed, exit_code\n"
    "  entries: for each logical file: rank, bytes, name, name_hex (only for a name that is no UTF-8), mode (octal, or "
    "null), part (only where it was added with one); for an unreadable one: rank, error (status, message)\n"
    "    last_rank: end of a range of ranks without stored data, or unreadable\n"
    "  error: only when the command stopped early: status, message; the entries before it are complete. After a signal "
    "the status is TW_ERR_STOPPED and exit_code 128 plus its number\n",
    "  thalweg ls docs.tw\n"
    "  thalweg ls docs.tw src/ '*.md'\n"
    "  thalweg ls --null docs.tw | grep -z README\n",
    add};

}  // namespace tool
