// thalweg: the command line of multifiles. Parses, runs one command, and converts every failure to a message and an
// exit code.
#include <fmt/format.h>
#include <unistd.h>
#include <algorithm>
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <new>
#include <sstream>
#include <utility>
#include <vector>

#include "command.hpp"
#include "common.hpp"
#include "measure.hpp"
#include "progress.hpp"
#include "text.hpp"

namespace {

using namespace tool;

// CLI11 only reports an unexpected word; this message suggests a command.
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

// Facts about the words before parsing, so that a parsing failure is reported like others.
struct Asked {
  std::string command;  // empty: no command of the table
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

void report(const std::string& message, tw_status status, int exit_code, const Asked& words) {
  Json object;
  object["command"] = words.command.empty() ? Json() : Json(words.command);
  object["exit_code"] = exit_code;
  object["error"] = {{"status", status == TW_OK ? Json() : Json(tw_status_name(status))}, {"message", message}};
  if (words.json && words.command == "cat") {  // its standard output carries the file's bytes
    std::cerr << json_text(object);
    return;
  }
  say(message);
  if (words.json) put_failed_json(object);
}

int report(const Failure& failure, const Asked& words) {
  report(failure.what(), failure.status, failure.exit, words);
  return failure.exit;
}

// Reports the completed work, completes a started object, then dies of the signal.
void report_interrupted(int number, const Asked& words) {
  const char* name = number == SIGINT ? "SIGINT" : number == SIGTERM ? "SIGTERM" : "SIGHUP";
  const std::string done = work_text();
  const std::string message = fmt::format("stopped by {}{}{}", name, done.empty() ? "" : "; ", done);
  report(message, TW_ERR_STOPPED, 128 + number, words);
  flush_last_output();
}

// Preallocated memory for the report of an allocation failure.
struct LastWords {
  Asked asked;
  std::vector<char> reserve = std::vector<char>(size_t{1} << 18);
};
std::unique_ptr<LastWords> g_last_words;

bool is_thrown_for_memory() {
  try {
    if (std::current_exception() != nullptr) throw;
  } catch (const std::bad_alloc&) {
    return true;
  } catch (...) {
    return false;
  }
  return false;
}

// Destroying a long list in Json allocates memory: without it the program ends here.
[[noreturn]] void end_without_memory() {
  if (g_last_words == nullptr || !is_thrown_for_memory()) std::abort();
  const std::unique_ptr<LastWords> words = std::exchange(g_last_words, nullptr);
  try {
    std::vector<char>().swap(words->reserve);
    report("out of memory", TW_ERR_NO_MEMORY, kInputOutput, words->asked);
    flush_output();
  } catch (...) {
    _exit(kInputOutput);  // standard error is unavailable
  }
  _exit(kInputOutput);
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

// Returns whether a command is to be run; false after --help and --version.
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

// Reports a failure of standard output once.
void flush_after(const Failure& failure) {
  try {
    flush_output();
  } catch (const Failure& second) {
    if (std::string_view(second.what()) != failure.what()) say(second.what());
  }
}

int run(int argc, char** argv) {
  const Asked words = asked(argc, argv);
  g_last_words = std::make_unique<LastWords>(LastWords{words});
  set_interrupted_report([words](int number) { report_interrupted(number, words); });
  std::set_terminate(end_without_memory);
  int code = kFine;
  try {
    Chosen chosen;
    Common common;
    const auto app = make_parser(chosen, common);
    if (argc < 2) {
      std::cerr << app->help();
      return kUsage;
    }
    if (is_measuring(argv[1])) become_measuring({argv + 1, argv + argc});
    if (parse(*app, argc, argv)) code = chosen.run(common);
    flush_output();
  } catch (const Failure& failure) {
    code = report(failure, words);
    flush_after(failure);
  } catch (const thalweg::Error& error) {
    code = report(Failure(exit_code(error.status()), error.what(), error.status()), words);
    flush_output();
  } catch (const Interrupted& interrupted) {
    report_interrupted(interrupted.signal, words);
    throw;
  } catch (const std::bad_alloc&) {
    code = report(Failure(kInputOutput, "out of memory", TW_ERR_NO_MEMORY), words);
    flush_output();
  } catch (const std::exception& error) {
    code = report(Failure(kInputOutput, error.what()), words);
    flush_output();
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
