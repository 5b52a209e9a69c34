// thalweg cat: the bytes of one logical file to standard output.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iostream>
#include <optional>

#include "command.hpp"
#include "common.hpp"
#include "text.hpp"

namespace tool {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 20;

struct Options {
  std::string file;
  std::optional<int64_t> task;
  std::optional<std::string> name;
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

// Only the one logical file is opened when its rank is known: the cost does not grow with their number.
Multifile open_task(const Options& options) {
  if (!options.task) return open_for_reading(options.file, options.recover);
  Config config;
  config.serve(-1, *options.task, 1);
  try {
    return open_for_reading(options.file, options.recover, config.get());
  } catch (const Failure& failure) {
    if (failure.status != TW_ERR_INVALID) throw;
    config.serve(-1, 0, 0);  // only to tell how many there are
    const Multifile multifile = open_for_reading(options.file, options.recover, config.get());
    check_rank(*options.task, multifile.summary().n_logical, options.file);
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

int run(const Options& options, const Common& common) {
  if (options.task.has_value() == options.name.has_value()) {
    throw Failure(kUsage, "give one of --task N and --name NAME; 'thalweg ls' lists all");
  }
  if (options.task && *options.task < 0)
    throw Failure(kUsage, fmt::format("no task {}: tasks are numbered from 0", *options.task));
  const Multifile multifile = open_task(options);
  const int64_t rank = options.task ? *options.task : find_name(multifile, options);
  check_rank(rank, multifile.summary().n_logical, options.file);
  check(tw_seek_to(multifile.get(), rank, 0));
  std::vector<char> buffer(kBufferBytes);
  int64_t bytes = 0;
  for (;;) {
    stop_if_interrupted();
    size_t got = 0;
    const tw_status status = tw_read(multifile.get(), buffer.data(), buffer.size(), &got);
    write_out(buffer.data(), got);  // what was read before a damaged part is sound
    bytes += static_cast<int64_t>(got);
    check(status);
    if (got == 0) break;
  }
  if (common.json) print_summary(multifile, options, rank, bytes);
  return kFine;
}

Run add(CLI::App& app) {
  auto options = std::make_shared<Options>();
  plain_word(app.add_option("FILE", options->file, "The multifile")->required());
  auto* task = app.add_option("-t,--task", options->task, "Rank of the logical file");
  auto* name = plain_word(app.add_option("-n,--name", options->name, "Name of the logical file"));
  task->excludes(name);
  app.add_flag("--recover", options->recover, "Read what is whole of a file that was not closed");
  return [options](const Common& common) { return run(*options, common); };
}

}  // namespace

const Command kCat = {
    "cat",
    "Write the bytes of one logical file to standard output",
    "Bytes whose checksum fails are not written: the command ends with 1, and what stood before them has been "
    "written. A reader that goes away early (as 'head' does) ends it quietly with 0.",
    "  command, file, rank, name, mode, bytes, exit_code: printed to standard error, as standard output carries the "
    "bytes\n",
    "  thalweg cat dump.tw --task 3 > task3.bin\n"
    "  thalweg cat docs.tw --name bash/README | less\n",
    add};

}  // namespace tool
