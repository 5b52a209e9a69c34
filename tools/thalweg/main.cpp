// thalweg: the command line of multifiles. Parses, runs one command, turns every failure into a message and an exit
// code.
#include <fmt/format.h>
#include <unistd.h>
#include <algorithm>
#include <CLI/CLI.hpp>
#include <csignal>
#include <iostream>
#include <sstream>

#include "command.hpp"
#include "common.hpp"
#include "progress.hpp"
#include "text.hpp"

namespace {

using namespace tool;

// CLI11 only says that it did not expect a word; say which command may have been meant.
void refuse_unknown_command(int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return;
  std::vector<std::string> names;
  for (const Command& command : commands()) {
    if (command.name == std::string_view(argv[1])) return;
    names.emplace_back(command.name);
  }
  const std::string near = nearest(argv[1], names);
  const std::string hint = near.empty() ? std::string() : fmt::format("did you mean '{}'? ", near);
  throw Failure(kUsage, fmt::format("unknown command '{}'; {}'thalweg --help' lists all", argv[1], hint));
}

// What is to be known of the words before they are parsed: a failure to parse them is told as the others are.
struct Asked {
  std::string command;  // empty: none of the table
  bool json = false;
};

Asked asked(int argc, char** argv) {
  Asked words;
  for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; ++i)
    words.json |= std::string_view(argv[i]) == "--json";
  for (const Command& command : commands()) {
    if (argc > 1 && command.name == std::string_view(argv[1])) words.command = command.name;
  }
  return words;
}

int report(const Failure& failure, const Asked& words) {
  Json object;
  object["command"] = words.command.empty() ? Json() : Json(words.command);
  object["exit_code"] = static_cast<int>(failure.exit);
  object["error"] = {{"status", failure.status == TW_OK ? Json() : Json(tw_status_name(failure.status))},
                     {"message", failure.what()}};
  if (words.json && words.command == "cat") {  // its standard output carries bytes
    std::cerr << json_text(object);
    return failure.exit;
  }
  say(failure.what());
  if (words.json) put_json(object);
  return failure.exit;
}

void put_help(const CLI::App& app, const CLI::ParseError& error) {
  std::ostringstream out;
  app.exit(error, out, out);
  put(out.str());
}

void refuse_empty_paths(const CLI::App& app) {
  for (const CLI::App* command : app.get_subcommands()) {
    for (const CLI::Option* option : command->get_options()) {
      const bool path =
          option->get_positional() || option->check_lname("directory") || option->check_lname("files-from");
      if (!path || std::ranges::count(option->results(), std::string()) == 0) continue;
      throw Failure(kUsage, fmt::format("{} is empty; see 'thalweg {} --help'",
                                        option->get_name(option->get_positional()), command->get_name()));
    }
  }
}

// Whether there is a command to be run; false after --help and --version.
bool parse(CLI::App& app, int argc, char** argv) {
  try {
    refuse_unknown_command(argc, argv);
    app.parse(prepared_arguments(argc, argv));
    refuse_empty_paths(app);
    return true;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      put_help(app, error);
      return false;
    }
    const auto used = app.get_subcommands();
    const std::string where = used.empty() ? std::string() : " " + used.front()->get_name();
    throw Failure(kUsage, fmt::format("{}; see 'thalweg{} --help'", error.what(), where));
  }
}

// Where standard output takes nothing that is told once.
void flush_after(const Failure& failure) {
  try {
    flush_output();
  } catch (const Failure& second) {
    if (std::string_view(second.what()) != failure.what()) say(second.what());
  }
}

int run(int argc, char** argv) {
  const Asked words = asked(argc, argv);
  int code = kFine;
  try {
    Chosen chosen;
    Common common;
    const auto app = make_parser(chosen, common);
    if (argc < 2) {
      std::cerr << app->help();
      return kUsage;
    }
    if (parse(*app, argc, argv)) code = chosen.run(common);
    flush_output();
  } catch (const Failure& failure) {
    code = report(failure, words);
    flush_after(failure);
  } catch (const std::bad_alloc&) {
    say("out of memory");
    code = kInputOutput;
  }
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  catch_signals();
  try {
    return run(argc, argv);
  } catch (const BrokenPipe&) {
    return kFine;
  } catch (const Interrupted& interrupted) {
    std::signal(interrupted.signal, SIG_DFL);
    std::raise(interrupted.signal);
    return 128 + interrupted.signal;
  } catch (const std::exception& error) {
    say(error.what());
    return kInputOutput;
  }
}
