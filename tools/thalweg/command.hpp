// One entry of the table of commands. The table makes the parser, --help, the man pages and the completions.
#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tool {

// What every command takes.
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
  Run (*add)(CLI::App& app);  // adds the arguments; what it returns is called when they were parsed
};

// The table, in the order of --help. Static storage.
std::span<const Command> commands();

// The parser made of the table. `chosen` and `common` are filled by parsing, and outlive the parser.
struct Chosen {
  const Command* command = nullptr;
  Run run;
};
std::unique_ptr<CLI::App> make_parser(Chosen& chosen, Common& common);

// The words for the parser: --task 1 2 of extract as --task 1 --task 2 (and so --vp) (so that it does not swallow
// FILE), and what CLI11 would take for a list marked as a plain word. plain_word() takes the mark away again.
std::vector<std::string> prepared_arguments(int argc, char** argv);
CLI::Option* plain_word(CLI::Option* option);

// Choices of an option, from its check; empty when it takes any text.
std::vector<std::string> choices_of(const CLI::Option& option);

// "3" or "3-7": adds the ranks to `ranks`. Throws Failure (usage) on anything else.
void add_ranks(const std::string& text, std::vector<std::pair<int64_t, int64_t>>& ranges);

extern const char* const kExitCodes;  // lines "code  meaning"

extern const Command kInfo, kLs, kCat, kPack, kExtract, kDefrag, kVerify, kRepair, kMap, kVpFlatten, kVpImport, kHints,
    kTune, kMethods, kAdvise, kCompletion, kMan;

}  // namespace tool
