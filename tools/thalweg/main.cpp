// thalweg: the command line of multifiles. Parses, runs one command, turns every failure into a message and an exit
// code.
#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>
#include <csignal>
#include <iostream>

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

int report(const Failure& failure, const Chosen& chosen, const Common& common) {
  say(failure.what());
  if (common.json && chosen.command != nullptr && std::string_view(chosen.command->name) != "cat") {
    Json object;
    object["command"] = chosen.command->name;
    object["exit_code"] = static_cast<int>(failure.exit);
    object["error"] = {{"status", failure.status == TW_OK ? Json() : Json(tw_status_name(failure.status))},
                       {"message", failure.what()}};
    put_json(object);
  }
  return failure.exit;
}

int parse(CLI::App& app, int argc, char** argv) {
  try {
    refuse_unknown_command(argc, argv);
    app.parse(prepared_arguments(argc, argv));
    return -1;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    if (argc < 2) {
      std::cerr << app.help();
    } else {
      const auto used = app.get_subcommands();
      const std::string where = used.empty() ? std::string() : " " + used.front()->get_name();
      say(fmt::format("{}; see 'thalweg{} --help'", error.what(), where));
    }
    return kUsage;
  }
}

int run(int argc, char** argv) {
  Chosen chosen;
  Common common;
  int code = kFine;
  try {
    const auto app = make_parser(chosen, common);
    const int parsed = parse(*app, argc, argv);
    if (parsed >= 0) return parsed;
    code = chosen.run(common);
    flush_output();
  } catch (const Failure& failure) {
    code = report(failure, chosen, common);
    flush_output();
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
  } catch (const Failure& failure) {  // also the error could not be written
    say(failure.what());
    return failure.exit;
  } catch (const std::exception& error) {
    say(error.what());
    return kInputOutput;
  }
}
