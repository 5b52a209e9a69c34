// One entry of the table of commands, from which the parser, --help, the man pages and the completions are generated.
#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tool {

// Options of every command.
struct Common {
  bool json = false;
  bool quiet = false;
};

// Runs the chosen command; returns the exit code. Throws Failure (common.hpp).
using Run = std::function<int(const Common&)>;

struct Command {
  const char* name;
  const char* brief;          // one line, no full stop
  const char* details;        // paragraphs, an empty line between two
  const char* json;           // lines "key: meaning" of the object that --json prints; nullptr: no --json
  const char* example;        // shell lines
  Run (*add)(CLI::App& app);  // adds the arguments; its result is called after parsing
};

// The table, in the order of --help. Static storage.
std::span<const Command> commands();

// The parser generated from the table. Parsing fills `chosen` and `common`, which outlive the parser.
struct Chosen {
  const Command* command = nullptr;
  Run run;
};
std::unique_ptr<CLI::App> make_parser(Chosen& chosen, Common& common);

// Prepares the words for the parser: --task 1 2 of extract becomes --task 1 --task 2, likewise --vp, so that the option
// does not take FILE; words that CLI11 parses as lists are marked as plain. plain_word() removes the mark.
std::vector<std::string> prepared_arguments(int argc, char** argv);
CLI::Option* plain_word(CLI::Option* option);

// Replaces a size and its unit by bytes. Units are those of hints: a kB is 1000 bytes; a KiB or a K 1024.
CLI::Validator as_size();

std::vector<std::string> names_of(const CLI::Option& option);  // "-t", "--task"
// Choices of an option, from its check; empty: any text.
std::vector<std::string> choices_of(const CLI::Option& option);

// "3" or "3-7": adds the ranks to `ranks`. Throws Failure (usage) on anything else.
void add_ranks(const std::string& text, std::vector<std::pair<int64_t, int64_t>>& ranges);

extern const char* const kExitCodes;  // lines "code  meaning"

extern const Command kInfo, kLs, kCat, kPack, kExtract, kDefrag, kDrain, kVerify, kRepair, kMap, kVpFlatten, kVpImport,
    kHints, kTune, kCheck, kMethods, kRunProgram, kAdvise, kCompletion, kMan;

}  // namespace tool
