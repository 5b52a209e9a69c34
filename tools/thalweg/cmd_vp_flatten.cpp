// thalweg vp-flatten: the streams of a vpfile as a plain array.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "command.hpp"
#include "common.hpp"
#include "new_vpfile.hpp"
#include "progress.hpp"
#include "text.hpp"
#include "vpfile.hpp"

namespace tool {
namespace {

struct Options {
  std::string from, to;
  int64_t record_bytes = 0;  // 0: length of the longest stream
  int fill = 0;
};

void flatten(const Options& options, const NewVpfile& target, bool quiet) {
  Progress progress("vp-flatten", quiet, "virtual processors");
  const tw_status status = tw_vpfile_flatten(options.from.c_str(), target.passing().c_str(), options.record_bytes,
                                             static_cast<unsigned char>(options.fill), Progress::callback, &progress);
  stop_if_interrupted();
  if (status != TW_OK) throw Failure(exit_code(status), target.in_final_words(tw_last_error()), status);
}

int run(const Options& options, const Common& common) {
  if (!is_vpfile(options.from)) {
    check_vpfile_or_multifile(options.from);
    throw Failure(kUsage, fmt::format("'{}' is a multifile; this command needs a vpfile", options.from));
  }
  NewVpfile target(options.to);
  flatten(options, target, common.quiet);
  const tw_vpfile_stored made = look_at_vpfile(target.passing());
  target.publish();
  put_result(common, json_head("vp-flatten", options.from),
             {{"to", options.to},
              {"shape", shape_of(made)},
              {"vps", made.n_vps},
              {"record_bytes", made.nb_record},
              {"bytes", made.nb_bytes * made.n_vps},
              {"exit_code", 0}},
             fmt::format("{}: {} of {} bytes, {}\n", printable(options.to), count_text(made.n_vps, "record"),
                         made.nb_record, size_text(made.nb_bytes * made.n_vps)));
  return kFine;
}

Run add(CLI::App& app) {
  auto options = std::make_shared<Options>();
  plain_word(app.add_option("FROM", options->from, "The vpfile")->required());
  plain_word(app.add_option("TO", options->to, "The new array")->required());
  app.add_option("--record-bytes", options->record_bytes,
                 "Bytes per virtual processor; longer streams are truncated. Default: the longest stream")
      ->check(CLI::Range(int64_t{1}, INT64_MAX))
      ->type_name("N");
  app.add_option("--fill", options->fill, "Value of the bytes after the end of shorter streams, 0 to 255; default 0")
      ->check(CLI::Range(0, 255))
      ->type_name("BYTE");
  return [options](const Common& common) { return run(*options, common); };
}

}  // namespace

const Command kVpFlatten = {"vp-flatten",
                            "Write the streams of a vpfile as a plain array",
                            "TO is a vpfile with one record per virtual processor, in the order of their numbers: a "
                            "plain array, which any program can read. TO appears when it is complete, TO.meta a moment "
                            "later; after a failure no file remains. Existing files are never replaced.",
                            "  command, file, to, exit_code\n"
                            "  shape: list of numbers; vps: number of virtual processors\n"
                            "  record_bytes: per virtual processor; bytes: in total\n",
                            "  thalweg vp-flatten particles.vp particles.bin --record-bytes 4096 --fill 255\n",
                            add};

}  // namespace tool
