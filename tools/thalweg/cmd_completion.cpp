// thalweg completion: scripts for bash and zsh, made from the parser.
#include <fmt/format.h>

#include "command.hpp"
#include "common.hpp"
#include "text.hpp"

namespace tool {
namespace {

// Words that may follow the option; "" for files or any text.
std::string words_after(const CLI::Option& option) {
  if (option.check_lname("hint")) {
    std::string words;
    for (int64_t i = 0; const tw_hint* hint = tw_hint_info(i); ++i) {
      if (!std::string_view(hint->scope).starts_with("multifile")) continue;  // the commands write multifiles only
      words += fmt::format("{}{}=", words.empty() ? "" : " ", hint->name);
    }
    return words;
  }
  if (option.get_positional() && option.get_name() == "COMMAND") {
    std::string words;
    for (const Command& command : commands()) words += fmt::format("{}{}", words.empty() ? "" : " ", command.name);
    return words;
  }
  return fmt::format("{}", fmt::join(choices_of(option), " "));
}

enum class Takes { nothing, words, directory, file, text };

Takes takes(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return Takes::nothing;
  if (!words_after(option).empty()) return Takes::words;
  const std::string type = option.get_type_name();
  if (type == "DIR") return Takes::directory;
  if (type == "LIST" || (option.get_positional() && option.get_name() != "SHELL")) return Takes::file;
  return Takes::text;
}

// ---- bash ----------------------------------------------------------------------------------------------------

std::string bash_value_case(const CLI::Option& option) {
  std::string reply;
  switch (takes(option)) {
    case Takes::nothing:
      return {};
    case Takes::words:
      reply = fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$cur\"))", words_after(option));
      break;
    case Takes::directory:
      reply = "compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- \"$cur\")";
      break;
    case Takes::file:
      reply = "compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")";
      break;
    case Takes::text:
      reply = "COMPREPLY=()";
      break;
  }
  const bool unfinished = option.check_lname("hint");  // NAME= is followed by a value
  return fmt::format("        {}) {}{}; return ;;\n", fmt::join(names_of(option), "|"), reply,
                     unfinished ? "; compopt -o nospace" : "");
}

std::string bash_command(const Command& command, const CLI::App& app) {
  std::string names;
  std::string cases;
  std::string positional_words;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) {
      positional_words += words_after(*option);
      continue;
    }
    for (const std::string& name : names_of(*option)) names += (names.empty() ? "" : " ") + name;
    cases += bash_value_case(*option);
  }
  if (app.get_allow_extras())  // its options are those of the Python program that it starts
    names += R"( $([[ $cur == -* ]] && "${COMP_WORDS[@]:0:2}" --help 2>/dev/null | grep -oE -- '--[a-z-]+' | sort -u))";
  std::string text = fmt::format("    {})\n", command.name);
  if (!cases.empty()) text += fmt::format("      case $prev in\n{}      esac\n", cases);
  return text + fmt::format("      options=\"{}\"\n      words='{}'\n      ;;\n", names, positional_words);
}

std::string bash_script(const CLI::App& app) {
  std::string names;
  std::string cases;
  for (const Command& command : commands()) {
    names += fmt::format("{} ", command.name);
    cases += bash_command(command, *app.get_subcommand(command.name));
  }
  return fmt::format(
      "# bash completion for thalweg; made by: thalweg completion bash\n"
      "_thalweg_words() {{\n"
      "  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} options='' words=''\n"
      "  COMPREPLY=()\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W '{}--help --version' -- \"$cur\"))\n"
      "    return\n"
      "  fi\n"
      "  case ${{COMP_WORDS[1]}} in\n{}    *) return ;;\n  esac\n"
      "  if [[ $cur == -* ]]; then\n"
      "    COMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n"
      "  elif [ -n \"$words\" ]; then\n"
      "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
      "  else\n"
      "    compopt -o filenames\n"
      "    mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
      "  fi\n"
      "}}\n"
      "complete -F _thalweg_words thalweg\n",
      names, cases);
}

// ---- zsh -----------------------------------------------------------------------------------------------------

// The script of bash, with what zsh lacks of bash. Within the first completion zsh has loaded it as a function.
std::string zsh_script(const CLI::App& app) {
  return "#compdef thalweg\n"
         "# zsh completion for thalweg; made by: thalweg completion zsh\n"
         "autoload -Uz bashcompinit && bashcompinit\n"
         "compopt() { :; }\n"
         "mapfile() {\n"
         "  local line\n"
         "  COMPREPLY=()\n"
         "  while IFS= read -r line; do COMPREPLY+=(\"$line\"); done\n"
         "}\n" +
         bash_script(app) + "if [ \"$funcstack[1]\" = _thalweg ]; then _bash_complete -F _thalweg_words; fi\n";
}

int run(const std::string& shell) {
  Chosen chosen;
  Common common;
  const auto app = make_parser(chosen, common);
  put(shell == "bash" ? bash_script(*app) : zsh_script(*app));
  return kFine;
}

Run add(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  app.add_option("SHELL", *shell, "bash or zsh")->required()->check(CLI::IsMember({"bash", "zsh"}));
  return [shell](const Common&) { return run(*shell); };
}

}  // namespace

const Command kCompletion = {
    "completion",
    "Write a completion script for bash or zsh to standard output",
    "The scripts are generated from the table that parses the command line, and are part of an installation.",
    nullptr,
    "  source <(thalweg completion bash)\n",
    add};

}  // namespace tool
