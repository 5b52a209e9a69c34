// thalweg cat: the bytes of logical files, or of one virtual processor, to standard output.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iostream>
#include <optional>

#include "command.hpp"
#include "common.hpp"
#include "progress.hpp"
#include "text.hpp"
#include "vpfile.hpp"

namespace tool {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 20;

struct Options {
  std::string file;
  std::optional<int64_t> task;
  std::vector<std::string> names;
  std::optional<std::string> vp;
  bool recover = false;
};

void write_out(const char* data, size_t bytes) {
  if (write_all(STDOUT_FILENO, data, bytes)) return;
  if (errno == EPIPE) throw BrokenPipe{};
  stop_if_interrupted();
  throw Failure(kInputOutput, fmt::format("cannot write to standard output: {}", std::strerror(errno)));
}

// Writes what read(data, bytes, got) gives until its end. Returns the number of bytes.
template <class Read>
int64_t write_all_of(Read read) {
  static std::vector<char> buffer(kBufferBytes);
  for (int64_t bytes = 0;;) {
    note_work("cat", bytes, 0, nullptr);
    stop_if_interrupted();
    size_t got = 0;
    const tw_status status = read(buffer.data(), buffer.size(), got);
    write_out(buffer.data(), got);  // data read before a damaged part is valid
    bytes += static_cast<int64_t>(got);
    check(status);
    if (got == 0) return bytes;
  }
}

// Standard output carries the bytes, so the object goes to standard error.
int finish(const Options& options, const Common& common, const Json& entries, int code = kFine) {
  if (!common.json) return code;
  Json object = json_head("cat", options.file);
  object["entries"] = entries;
  object["exit_code"] = code;
  std::cerr << json_text(object);
  return code;
}

int run_vpfile(const Options& options, const Common& common) {
  const char* instead = "; give --vp N";
  refuse_option_of_multifiles(options.task.has_value(), "--task", options.file, instead);
  refuse_option_of_multifiles(!options.names.empty(), "NAME", options.file, instead);
  refuse_option_of_multifiles(options.recover, "--recover", options.file, "; 'thalweg repair' closes it");
  if (!options.vp)
    throw Failure(kUsage, fmt::format("'{}' is a vpfile: give --vp N, or an index as --vp 3,5", options.file));
  const tw_vpfile_stored stored = look_at_vpfile(options.file);
  const int64_t vp = parse_vp(*options.vp, shape_of(stored), options.file);
  const Vpfile file(options.file);
  const int64_t bytes =
      write_all_of([&](char* data, size_t most, size_t& got) { return file.read(vp, data, most, got); });
  return finish(options, common, {{{"vp", vp}, {"bytes", bytes}}});
}

// The name is looked up only where it is printed: the bytes may be whole where it is damaged.
void write_task(const Multifile& multifile, int64_t rank, bool json, Json& entries) {
  check(tw_multifile_seek_to(multifile.get(), rank, 0));
  const int64_t bytes = write_all_of(
      [&](char* data, size_t most, size_t& got) { return tw_multifile_read(multifile.get(), data, most, &got); });
  if (!json) return;
  Json entry{{"rank", rank}};
  uint32_t mode = 0;
  const std::string name = multifile.name(rank, &mode);
  add_name(entry, name, mode);
  entry["bytes"] = bytes;
  entries.push_back(entry);
}

int run_multifile(const Options& options, const Common& common) {
  if (options.task.has_value() != options.names.empty()) {
    throw Failure(kUsage, "give --task N or a NAME ('thalweg ls' lists all), or --vp N for a vpfile");
  }
  if (options.task && *options.task < 0)
    throw Failure(kUsage, fmt::format("no task {}: tasks are numbered from 0", *options.task));
  const Multifile multifile = open_for_reading(options.file, options.recover);
  bool whole = true;
  std::vector<int64_t> ranks;
  if (options.task) {
    check_rank(*options.task, multifile.summarize().n_logical, options.file);
    ranks.push_back(*options.task);
  } else {
    for_chosen(multifile, options.file, options.names, whole, [&](int64_t rank) { ranks.push_back(rank); });
  }
  Json entries = Json::array();
  for (const int64_t rank : ranks) write_task(multifile, rank, common.json, entries);
  return finish(options, common, entries, whole ? kFine : kDamaged);
}

int run(const Options& options, const Common& common) {
  if (is_vpfile(options.file)) return run_vpfile(options, common);
  refuse_option_of_vpfiles(options.vp.has_value(), "--vp", options.file, "; give --task N");
  return run_multifile(options, common);
}

Run add(CLI::App& app) {
  auto options = std::make_shared<Options>();
  plain_word(app.add_option("FILE", options->file, "The multifile or vpfile")->required());
  auto* task = app.add_option("-t,--task", options->task, "Rank of the logical file");
  auto* name = plain_word(
      app.add_option("NAME", options->names, "Logical files: names, directories, or patterns with * ? [...]"));
  task->excludes(name);
  plain_word(app.add_option("--vp", options->vp, "Number of the virtual processor, or its index in the shape: I,J,..."))
      ->type_name("N");
  app.add_flag("--recover", options->recover, "Read the intact part of an unclosed file");
  return [options](const Common& common) { return run(*options, common); };
}

}  // namespace

const Command kCat = {
    "cat",
    "Write the bytes of logical files, or of a virtual processor, to standard output",
    "NAME is that of a file, the last one where several have it, or NAME.PART, or that of a directory with all below "
    "it, or a pattern as of a shell, in which * and ? match '/' too; one that matches nothing is an error. Several "
    "files are written in order of their ranks.\n"
    "\nData with a wrong checksum is not written: the command writes everything before it and exits with 1. When the "
    "reader closes the pipe early (as 'head' does) the command exits silently with 0.",
    "  command, file, exit_code: printed on standard error, as standard output has the bytes\n"
    "  entries: for each logical file: rank, name, mode, bytes; of a vpfile: vp, bytes\n",
    "  thalweg cat dump.tw --task 3 > task3.bin\n"
    "  thalweg cat docs.tw bash/README | less\n"
    "  thalweg cat particles.vp --vp 3,5 | od -t f8\n",
    add};

}  // namespace tool
