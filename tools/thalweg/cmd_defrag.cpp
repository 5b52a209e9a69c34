// thalweg defrag: a copy with one chunk per logical file and no holes.
#include <fmt/format.h>

#include "command.hpp"
#include "common.hpp"
#include "new_multifile.hpp"
#include "progress.hpp"
#include "text.hpp"

namespace tool {
namespace {

struct Options {
  std::string from, to;
  std::vector<std::string> hints;
  std::string compress;
  bool force = false;
};

struct Copy {
  int64_t bytes;
  std::string strategy;
};

Copy copy(const Options& options, const std::string& to, bool quiet) {
  Config config;
  for (const std::string& hint : options.hints) config.set_hint(hint);
  if (!options.compress.empty()) config.hint("compression", options.compress);
  Progress progress("defrag", quiet);
  const tw_status status =
      tw_multifile_defrag(options.from.c_str(), to.c_str(), config.get(), Progress::callback, &progress);
  stop_if_interrupted();
  check(status);
  const Multifile made(to, TW_READ);
  return {bytes_of_physical_files(to, made).apparent, made.stored_strategy()};
}

int run(const Options& options, const Common& common) {
  note_work("defrag", 0, 0, nullptr);  // a signal may arrive while the multifile is opened
  const int64_t before = bytes_of_physical_files(options.from, Multifile(options.from, TW_READ)).apparent;
  NewMultifile target(options.to, options.force);
  const Copy made = target.write([&](const std::string& passing) { return copy(options, passing, common.quiet); });
  target.publish();
  put_result(common, json_head("defrag", options.from),
             {{"to", options.to},
              {"physical_bytes_before", before},
              {"physical_bytes_after", made.bytes},
              {"strategy", made.strategy},
              {"exit_code", 0}},
             fmt::format("{}: {}, was {}\nstrategy: {}\n", printable(options.to), size_text(made.bytes),
                         size_text(before), printable(made.strategy)));
  return kFine;
}

Run add(CLI::App& app) {
  auto options = std::make_shared<Options>();
  plain_word(app.add_option("FILE", options->from, "The multifile")->required());
  plain_word(app.add_option("OUT", options->to, "The copy")->required());
  app.add_option("--compress", options->compress, "Compress the content")->check(CLI::IsMember({"zstd", "lz4"}));
  plain_word(app.add_option("--hint", options->hints, "A hint for the copy; 'thalweg hints' lists all")
                 ->type_name("NAME=VALUE")
                 ->allow_extra_args(false));
  app.add_flag("-f,--force", options->force, "Replace OUT if it exists");
  return [options](const Common& common) { return run(*options, common); };
}

}  // namespace

const Command kDefrag = {
    "defrag",
    "Copy to one physical file, one chunk per task, no holes",
    "Names, modes and attributes are kept. OUT appears when it is complete; after a failure no file remains.",
    "  command, file, to, exit_code\n"
    "  physical_bytes_before, physical_bytes_after: bytes of the physical files, holes counted\n"
    "  strategy: the library's choice, as text\n",
    "  thalweg defrag dump.tw archive.tw --compress zstd\n",
    add};

}  // namespace tool
