// thalweg cat: the bytes of one logical file, or of one virtual processor, to standard output.
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
  std::optional<std::string> name, vp;
  bool recover = false;
};

int64_t find_name(const Multifile& multifile, const Options& options) {
  int64_t rank = -1;
  const tw_status status = tw_multifile_find(multifile.get(), options.name->c_str(), &rank);
  if (status == TW_ERR_NOT_FOUND) {
    throw Failure(kUsage, fmt::format("'{}' has no logical file named '{}'; 'thalweg ls' lists all", options.file,
                                      *options.name));
  }
  check(status);
  return rank;
}

void write_out(const char* data, size_t bytes) {
  if (write_all(STDOUT_FILENO, data, bytes)) return;
  if (errno == EPIPE) throw BrokenPipe{};
  stop_if_interrupted();
  throw Failure(kInputOutput, fmt::format("cannot write to standard output: {}", std::strerror(errno)));
}

// Opens only the one logical file when its rank is known: the cost is independent of their number.
Multifile open_task(const Options& options) {
  if (!options.task) return open_for_reading(options.file, options.recover);
  Config config;
  config.serve(-1, *options.task, 1);
  try {
    return open_for_reading(options.file, options.recover, config.get());
  } catch (const Failure& failure) {
    if (failure.status != TW_ERR_INVALID) throw;
    config.serve(-1, 0, 0);  // opens none, only to query their number
    const Multifile multifile = open_for_reading(options.file, options.recover, config.get());
    check_rank(*options.task, multifile.summarize().n_logical, options.file);
    throw;
  }
}

// Standard output carries the bytes, so the object goes to standard error.
void print_summary(const Multifile& multifile, const Options& options, int64_t rank, int64_t bytes) {
  Json object = json_head("cat", options.file);
  object["rank"] = rank;
  uint32_t mode = 0;
  const std::string name = multifile.name(rank, &mode);
  add_name(object, name, mode);
  object["bytes"] = bytes;
  object["exit_code"] = 0;
  std::cerr << json_text(object);
}

int run_vpfile(const Options& options, const Common& common) {
  const char* instead = "; give --vp N";
  refuse_option_of_multifiles(options.task.has_value(), "--task", options.file, instead);
  refuse_option_of_multifiles(options.name.has_value(), "--name", options.file, instead);
  refuse_option_of_multifiles(options.recover, "--recover", options.file, "; 'thalweg repair' closes it");
  if (!options.vp)
    throw Failure(kUsage, fmt::format("'{}' is a vpfile: give --vp N, or an index as --vp 3,5", options.file));
  const tw_vpfile_stored stored = look_at_vpfile(options.file);
  const int64_t vp = parse_vp(*options.vp, shape_of(stored), options.file);
  const Vpfile file(options.file);
  std::vector<char> buffer(kBufferBytes);
  int64_t bytes = 0;
  for (;;) {
    note_work("cat", bytes, 0, nullptr);
    stop_if_interrupted();
    size_t got = 0;
    const tw_status status = file.read(vp, buffer.data(), buffer.size(), got);
    write_out(buffer.data(), got);
    bytes += static_cast<int64_t>(got);
    check(status);
    if (got == 0) break;
  }
  if (common.json) {
    Json object = json_head("cat", options.file);
    object["vp"] = vp;
    object["bytes"] = bytes;
    object["exit_code"] = 0;
    std::cerr << json_text(object);
  }
  return kFine;
}

int run_multifile(const Options& options, const Common& common) {
  if (options.task.has_value() == options.name.has_value()) {
    throw Failure(kUsage, "give one of --task N and --name NAME ('thalweg ls' lists all), or --vp N for a vpfile");
  }
  if (options.task && *options.task < 0)
    throw Failure(kUsage, fmt::format("no task {}: tasks are numbered from 0", *options.task));
  const Multifile multifile = open_task(options);
  const int64_t rank = options.task ? *options.task : find_name(multifile, options);
  check_rank(rank, multifile.summarize().n_logical, options.file);
  check(tw_multifile_seek_to(multifile.get(), rank, 0));
  std::vector<char> buffer(kBufferBytes);
  int64_t bytes = 0;
  for (;;) {
    note_work("cat", bytes, 0, nullptr);
    stop_if_interrupted();
    size_t got = 0;
    const tw_status status = tw_multifile_read(multifile.get(), buffer.data(), buffer.size(), &got);
    write_out(buffer.data(), got);  // data read before a damaged part is valid
    bytes += static_cast<int64_t>(got);
    check(status);
    if (got == 0) break;
  }
  if (common.json) print_summary(multifile, options, rank, bytes);
  return kFine;
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
  auto* name = plain_word(app.add_option("-n,--name", options->name, "Name of the logical file"));
  task->excludes(name);
  plain_word(app.add_option("--vp", options->vp, "Number of the virtual processor, or its index in the shape: I,J,..."))
      ->type_name("N");
  app.add_flag("--recover", options->recover, "Read the intact part of an unclosed file");
  return [options](const Common& common) { return run(*options, common); };
}

}  // namespace

const Command kCat = {
    "cat",
    "Write the bytes of one logical file, or virtual processor, to standard output",
    "Data with a wrong checksum is not written: the command writes everything before it and exits with 1. When the "
    "reader closes the pipe early (as 'head' does) the command exits silently with 0.",
    "  command, file, rank, name, mode, bytes, exit_code: printed on standard error, as standard output has the bytes\n"
    "  vp: of a vpfile, instead of rank, name and mode\n",
    "  thalweg cat dump.tw --task 3 > task3.bin\n"
    "  thalweg cat docs.tw --name bash/README | less\n"
    "  thalweg cat particles.vp --vp 3,5 | od -t f8\n",
    add};

}  // namespace tool
