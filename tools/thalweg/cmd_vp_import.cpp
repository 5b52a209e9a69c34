// thalweg vp-import: NAME.meta for a plain array.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "command.hpp"
#include "common.hpp"
#include "new_multifile.hpp"
#include "text.hpp"
#include "vpfile.hpp"

namespace tool {
namespace {

struct Options {
  std::string file, shape;
  int64_t record_bytes = 0;
};

int run(const Options& options, const Common& common) {
  const std::vector<int64_t> shape = parse_shape(options.shape);
  if (begins_as_multifile(options.file))
    throw Failure(kUsage, fmt::format("'{}' is a multifile, not an array", options.file));
  const tw_status status =
      tw_vpfile_import(options.file.c_str(), static_cast<int32_t>(shape.size()), shape.data(), options.record_bytes);
  if (status == TW_ERR_EXISTS)
    throw Failure(kUnsafe, fmt::format("refused: '{}' is a vpfile already: its NAME.meta exists", options.file),
                  status);
  check(status);
  const tw_vpfile_stored made = look_at_vpfile(options.file);
  const int64_t records = made.nb_record > 0 ? made.nb_bytes / made.nb_record : 0;
  put_result(
      common, json_head("vp-import", options.file),
      {{"shape", shape}, {"vps", made.n_vps}, {"record_bytes", made.nb_record}, {"records", records}, {"exit_code", 0}},
      fmt::format("{}: {}, {} of {} bytes each\n", printable(options.file), count_text(made.n_vps, "virtual processor"),
                  count_text(records, "record"), made.nb_record));
  return kFine;
}

Run add(CLI::App& app) {
  auto options = std::make_shared<Options>();
  plain_word(app.add_option("FILE", options->file, "The array")->required());
  plain_word(
      app.add_option("--shape", options->shape, "Shape of the virtual processors")->type_name("A,B,...")->required());
  app.add_option("--record-bytes", options->record_bytes, "Bytes per virtual processor in a record")
      ->check(CLI::Range(int64_t{1}, INT64_MAX))
      ->type_name("N")
      ->required();
  return [options](const Common& common) { return run(*options, common); };
}

}  // namespace

const Command kVpImport = {
    "vp-import",
    "Make a plain array a vpfile",
    "The array consists of consecutive records, each with N bytes of every virtual processor in the order of their "
    "numbers, like a vpfile written collectively. Creates NAME.meta; the array is not changed. Exits with 2 when the "
    "sizes do not match, with 4 when NAME.meta exists.",
    "  command, file, exit_code\n"
    "  shape: list of numbers; vps: number of virtual processors\n"
    "  record_bytes: per virtual processor; records: their number\n",
    "  thalweg vp-import field.bin --shape 256,128 --record-bytes 8\n",
    add};

}  // namespace tool
