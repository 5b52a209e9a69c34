// thalweg hints: the library's table of hints.
#include <fmt/format.h>
#include <thalweg/multifile.h>

#include "command.hpp"
#include "text.hpp"

namespace tool {
namespace {

int run(const Common& common) {
  Json hints = Json::array();
  for (int64_t i = 0; const tw_hint* hint = tw_hint_info(i); ++i) {
    hints.push_back({{"name", hint->name},
                     {"type", hint->type},
                     {"default", hint->default_value},
                     {"values", hint->values},
                     {"help", hint->help},
                     {"scope", hint->scope}});
    if (!common.json) {
      put(fmt::format("{} (of a {}: {}; default {}; {})\n    {}\n", hint->name, hint->scope, hint->type,
                      hint->default_value, hint->values, hint->help));
    }
  }
  if (common.json) put_json({{"command", "hints"}, {"hints", hints}, {"exit_code", 0}});
  return 0;
}

Run add(CLI::App&) { return run; }

}  // namespace

const Command kHints = {"hints",
                        "List the hints: name, type, default, values, meaning",
                        "'thalweg pack' and 'thalweg defrag' take hints of a multifile as --hint NAME=VALUE, programs "
                        "by tw_options_set_hint().",
                        "  command, exit_code\n"
                        "  hints: for each: name, type, default, values, help, scope\n",
                        "  thalweg hints\n",
                        add};

}  // namespace tool
