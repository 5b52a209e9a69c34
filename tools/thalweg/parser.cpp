// Generates the parser from the table of commands.
#include <fmt/format.h>
#include <thalweg/version.h>
#include <algorithm>
#include <charconv>
#include <CLI/CLI.hpp>
#include <CLI/Formatter.hpp>

#include "command.hpp"
#include "common.hpp"

namespace tool {
namespace {

constexpr char kMark = '\x01';

constexpr const Command* kTable[] = {&kInfo,   &kLs,      &kCat,        &kPack,      &kExtract,    &kDefrag, &kDrain,
                                     &kVerify, &kRepair,  &kMap,        &kVpFlatten, &kVpImport,   &kHints,  &kTune,
                                     &kCheck,  &kMethods, &kRunProgram, &kAdvise,    &kCompletion, &kMan};

// Lines of at most 90 characters; line ends of `text` are kept.
std::string wrapped(std::string_view text) {
  std::string out;
  size_t column = 0;
  while (!text.empty()) {
    const size_t end = text.find_first_of(" \n");
    const std::string_view word = text.substr(0, end);
    if (column > 0 && column + 1 + word.size() > 90) {
      out += '\n';
      column = 0;
    }
    if (column > 0) out += ' ';
    out += word;
    column += word.size() + (column > 0 ? 1 : 0);
    if (end == std::string_view::npos) break;
    if (text[end] == '\n') {
      out += '\n';
      column = 0;
    }
    text.remove_prefix(end + 1);
  }
  return out;
}

// CLI11 parses "[a,b]", "{}" and "%%" as lists. A leading mark makes them plain words.
std::string marked(std::string word) {
  const size_t equals = word.starts_with("--") ? word.find('=') : std::string::npos;
  const size_t at = equals == std::string::npos ? 0 : equals + 1;
  const std::string_view value = std::string_view(word).substr(at);
  const bool list = value.size() >= 2 && value.front() == '[' && value.back() == ']';
  if (list || value == "{}" || value == "%%") word.insert(at, 1, kMark);
  return word;
}

bool looks_like_ranks(std::string_view word) {
  return !word.empty() && word.front() >= '0' && word.front() <= '9' &&
         word.find_first_not_of("0123456789-,") == std::string_view::npos;
}

std::string footer(const Command& command) {
  std::string text = wrapped(command.details) + "\n";
  if (command.json != nullptr) text += fmt::format("\nKeys of --json:\n{}", command.json);
  text += fmt::format("\nExit codes:\n{}\nExamples:\n{}", kExitCodes, command.example);
  return text;
}

}  // namespace

const char* const kExitCodes =
    "  0  success\n"
    "  1  the file is damaged or unclosed\n"
    "  2  usage: an argument is invalid, or names a missing task\n"
    "  3  input/output error\n"
    "  4  refused for safety: would overwrite a file or leave the target directory\n";

std::span<const Command> commands() {
  static const std::vector<Command> table = [] {
    std::vector<Command> all;
    for (const Command* command : kTable) all.push_back(*command);
    return all;
  }();
  return table;
}

std::unique_ptr<CLI::App> make_parser(Chosen& chosen, Common& common) {
  auto app = std::make_unique<CLI::App>(
      "Inspects, creates, extracts, verifies and repairs Thalweg multifiles and vpfiles", "thalweg");
  app->set_version_flag("--version", fmt::format("thalweg {}", tw_version_string()), "Print the version and exit");
  app->require_subcommand(1);
  app->footer(
      fmt::format("\nExit codes:\n"
                  "{}\n"
                  "'thalweg COMMAND --help' describes a command.",
                  kExitCodes));
  app->get_formatter()->column_width(28);
  app->get_formatter()->label("SUBCOMMAND", "COMMAND");
  app->get_formatter()->label("Subcommands", "Commands");
  app->set_help_flag("-h,--help", "Print help and exit");
  for (const Command& command : commands()) {
    CLI::App* sub = app->add_subcommand(command.name, command.brief);
    sub->footer("\n" + footer(command));
    const Run run = command.add(*sub);
    if (command.json != nullptr) {
      sub->add_flag("--json", common.json, "Print the result as JSON");
      sub->add_flag("-q,--quiet", common.quiet, "No progress bar, no text beyond the result and errors");
    }
    sub->callback([&chosen, &command, run] { chosen = {&command, run}; });
  }
  return app;
}

std::vector<std::string> prepared_arguments(int argc, char** argv) {
  std::vector<std::string> words;
  const bool many_ranks = argc > 1 && std::string_view(argv[1]) == "extract";
  std::string option;         // --task or --vp
  bool after_option = false;  // the word is its value
  bool after_rank = false;    // the word follows such a value
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const bool another_rank = many_ranks && after_rank && !after_option && looks_like_ranks(word);
    if (another_rank) words.push_back(option);
    words.push_back(marked(std::string(word)));
    const bool value = word.find('=') != std::string_view::npos;
    const bool task = word == "--task" || word == "-t" || word.starts_with("--task=");
    const bool vp = word == "--vp" || word.starts_with("--vp=");
    after_rank = after_option || another_rank || ((task || vp) && value);
    if (task || vp) option = task ? "--task" : "--vp";
    after_option = (task || vp) && !value;
  }
  std::ranges::reverse(words);  // CLI11 expects the last first
  return words;
}

CLI::Option* plain_word(CLI::Option* option) {
  return option->transform(
      [](std::string word) {
        if (!word.empty() && word.front() == kMark) word.erase(0, 1);
        return word;
      },
      "");
}

CLI::Validator as_size() {
  std::map<std::string, uint64_t> units = {{"b", 1}};
  uint64_t decimal = 1, binary = 1;
  for (const std::string prefix : {"k", "m", "g", "t", "p", "e"}) {
    units[prefix + "b"] = decimal *= 1000;
    units[prefix] = units[prefix + "i"] = units[prefix + "ib"] = binary *= 1024;
  }
  return CLI::AsNumberWithUnit(units).description("SIZE [b, kb(=1000b), kib(=1024b), ...]");
}

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();  // "TEXT:{a,b}" for CLI::IsMember
  const size_t open = type.find('{');
  const size_t close = type.find('}');
  std::vector<std::string> choices;
  if (open == std::string::npos || close == std::string::npos) return choices;
  for (const std::string& choice : CLI::detail::split(type.substr(open + 1, close - open - 1), ','))
    choices.push_back(choice);
  return choices;
}

void add_ranks(const std::string& text, std::vector<std::pair<int64_t, int64_t>>& ranges) {
  int64_t first = 0;
  int64_t last = 0;
  const char* end = text.data() + text.size();
  auto [rest, error] = std::from_chars(text.data(), end, first);
  last = first;
  if (error == std::errc() && rest != end && *rest == '-') {
    const auto second = std::from_chars(rest + 1, end, last);
    rest = second.ptr;
    error = second.ec;
  }
  if (error != std::errc() || rest != end || first < 0 || last < first) {
    throw Failure(kUsage, fmt::format("'{}' is neither a task number nor a range such as 0-7", text));
  }
  ranges.emplace_back(first, last);
}

}  // namespace tool
