// thalweg drain: brings what programs left in the tier of this node to the shared file system.
#include <fmt/format.h>

#include "command.hpp"
#include "common.hpp"
#include "progress.hpp"
#include "text.hpp"

namespace tool {
namespace {

struct Options {
  std::string folder;
  bool lost = false;
};

void add_line(const char* text, void* user) { static_cast<std::vector<std::string>*>(user)->emplace_back(text); }

int run(const Options& options, const Common& common) {
  std::vector<std::string> lines;
  const tw_status status = tw_multifile_drain(options.folder.c_str(), options.lost ? 1 : 0, add_line, &lines);
  const std::string message = status != TW_OK ? tw_last_error() : "";
  std::erase(lines, message);  // standard error has it
  if (common.json) {
    Json object = json_head("drain", options.folder);
    object["status"] = tw_status_name(status);
    object["lines"] = lines;
    object["exit_code"] = static_cast<int>(exit_code(status));
    if (status != TW_OK) object["error"] = {{"status", tw_status_name(status)}, {"message", message}};
    put_json(object);
  } else if (!common.quiet) {
    for (const std::string& line : lines) put(printable(line, false) + "\n");
  }
  flush_output();
  if (status != TW_OK) say(message);
  return exit_code(status);
}

Run add(CLI::App& app) {
  auto options = std::make_shared<Options>();
  plain_word(app.add_option("FOLDER", options->folder, "The tier: the value of the hint tier")->required());
  app.add_flag("--lost", options->lost, "Also the copies here of the parts of nodes that are gone");
  return [options](const Common& common) { return run(*options, common); };
}

}  // namespace

const Command kDrain = {
    "drain",
    "Bring multifiles from the tier of a node to their names",
    "Programs with the hint tier write a multifile in a folder of each node. What a program that has ended left there "
    "is "
    "copied to the file system that the nodes share, and removed from the tier. A multifile that was closed gets its "
    "name, "
    "in place of an older one, once the parts of all nodes are there; one that was only flushed is repaired, and does "
    "not "
    "replace a whole one.\n"
    "\nCall it on every node, at once or in turn. Where a node is gone, its partner (hint partner), which is the next "
    "node, has a copy of its part: drain that with --lost. Folders of running programs are left alone. A drain can be "
    "interrupted and repeated. Exits with 0 when everything is drained, with 1 when parts of a multifile are missing "
    "or "
    "damaged, with 4 when a running program has some of it.",
    "  command, file (the folder), status (name of a tw_status), exit_code\n"
    "  lines: the result for each multifile\n",
    "  thalweg drain /dev/shm\n"
    "  srun --ntasks-per-node=1 thalweg drain /dev/shm\n"
    "  thalweg drain --lost /dev/shm\n",
    add};

}  // namespace tool
