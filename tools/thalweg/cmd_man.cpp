// thalweg man: the manual pages, made from the parser and the table of commands.
#include <fmt/format.h>
#include <thalweg/version.h>

#include "command.hpp"
#include "common.hpp"
#include "picture_file.hpp"
#include "text.hpp"

namespace tool {
namespace {

struct Options {
  std::string command, directory;
};

// Text for troff: escapes backslashes, hyphens, and lines that begin like a request.
std::string roff(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    const bool line_start = safe.empty() || safe.back() == '\n';
    if (line_start && (c == '.' || c == '\'')) safe += "\\&";
    if (c == '\\') {
      safe += "\\e";
    } else if (c == '-') {
      safe += "\\-";
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string paragraphs(std::string_view text) {
  std::string page;
  while (!text.empty()) {
    const size_t end = text.find("\n\n");
    page += ".PP\n" + roff(text.substr(0, end)) + "\n";
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 2);
  }
  return page;
}

std::string literal(std::string_view text) { return ".PP\n.nf\n" + roff(text) + ".fi\n"; }

std::string option_head(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name(true, false);
  const std::string names = fmt::format("{}", fmt::join(names_of(option), ", "));
  const std::vector<std::string> choices = choices_of(option);
  if (option.get_items_expected_max() == 0) return names;
  if (choices.empty()) return names + " " + option.get_type_name();
  return names + " " + fmt::format("{}", fmt::join(choices, "|"));
}

std::string option_list(const CLI::App& app) {
  std::string page;
  for (const CLI::Option* option : app.get_options()) {
    page += fmt::format(".TP\n\\fB{}\\fR\n{}.\n", roff(option_head(*option)), roff(option->get_description()));
  }
  return page;
}

std::string synopsis(const CLI::App& app, const std::string& name) {
  std::string line = fmt::format("\\fB{}\\fR [\\fIoptions\\fR]", roff(name));
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional()) continue;
    const bool many = option->get_items_expected_max() > 1;
    const std::string word = option->get_name(true, false) + (many ? " ..." : "");
    line += option->get_required() ? fmt::format(" \\fI{}\\fR", word) : fmt::format(" [\\fI{}\\fR]", word);
  }
  return line + "\n";
}

std::string head(const std::string& title, std::string_view brief) {
  return fmt::format(".TH {} 1 \"\" \"Thalweg {}\" \"Thalweg Manual\"\n.SH NAME\n{} \\- {}\n", title,
                     tw_version_string(), roff(title), roff(brief));
}

std::string command_page(const Command& command, const CLI::App& app) {
  const std::string name = fmt::format("thalweg {}", command.name);
  std::string page = head(fmt::format("thalweg-{}", command.name), command.brief);
  page += ".SH SYNOPSIS\n" + synopsis(app, name);
  page += ".SH DESCRIPTION\n" + paragraphs(command.details);
  page += ".SH OPTIONS\n" + option_list(app);
  if (command.json != nullptr)
    page +=
        ".SH JSON\n"
        "Keys of the object printed by \\-\\-json:\n" +
        literal(command.json);
  page += ".SH EXIT STATUS\n" + literal(kExitCodes);
  page += ".SH EXAMPLES\n" + literal(command.example);
  return page + ".SH SEE ALSO\n.BR thalweg (1)\n";
}

std::string main_page(const CLI::App& app) {
  std::string page = head("thalweg", app.get_description());
  page += ".SH SYNOPSIS\n\\fBthalweg\\fR \\fICOMMAND\\fR [\\fIoptions\\fR] ...\n";
  page += ".SH DESCRIPTION\n" +
          paragraphs(
              "A multifile holds the logical files of many tasks in few physical files. This command inspects, "
              "creates, extracts, verifies, repairs and draws multifiles. It needs no MPI.\n"
              "\nLong operations show a progress bar when standard error is a terminal. An interrupted command removes "
              "its partial output.");
  page += ".SH COMMANDS\n";
  for (const Command& command : commands()) {
    page += fmt::format(".TP\n.BR thalweg\\-{} (1)\n{}.\n", command.name, roff(command.brief));
  }
  page += ".SH OPTIONS\n" + option_list(app);
  return page + ".SH EXIT STATUS\n" + literal(kExitCodes);
}

void write_page(const std::string& directory, const std::string& name, const std::string& text) {
  const std::string path = fmt::format("{}/{}.1", directory, name);
  check_folder_of(path);
  write_picture(path, text, true);
}

int run(const Options& options) {
  Chosen chosen;
  Common common;
  const auto app = make_parser(chosen, common);
  if (options.command.empty() && options.directory.empty()) put(main_page(*app));
  if (!options.directory.empty()) write_page(options.directory, "thalweg", main_page(*app));
  bool found = options.command.empty();
  for (const Command& command : commands()) {
    const CLI::App& sub = *app->get_subcommand(command.name);
    if (options.command == command.name) {
      put(command_page(command, sub));
      found = true;
    }
    if (!options.directory.empty())
      write_page(options.directory, fmt::format("thalweg-{}", command.name), command_page(command, sub));
  }
  if (!found) throw Failure(kUsage, fmt::format("no command '{}'; 'thalweg --help' lists all", options.command));
  return kFine;
}

Run add(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("COMMAND", options->command, "Command whose page is printed; default: the main page");
  app.add_option("--directory", options->directory, "Write all pages into this directory, as thalweg.1 and so on")
      ->type_name("DIR");
  return [options](const Common&) { return run(*options); };
}

}  // namespace

const Command kMan = {"man",
                      "Write a manual page, as troff source, to standard output",
                      "The pages are generated from the table that parses the command line.",
                      nullptr,
                      "  thalweg man extract | man -l -\n",
                      add};

}  // namespace tool
