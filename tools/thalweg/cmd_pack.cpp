// thalweg pack: files and directory trees into one multifile, one logical file each.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <optional>
#include <sstream>
#include <unordered_set>

#include "command.hpp"
#include "common.hpp"
#include "new_multifile.hpp"
#include "progress.hpp"
#include "safe_path.hpp"
#include "text.hpp"
#include "threads.hpp"
#include "tree_walk.hpp"

namespace tool {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 20;
constexpr double kFileCost = 32 << 10;  // opening a file takes the time of copying so many bytes

struct Options {
  std::string file;
  std::vector<std::string> paths;
  std::string directory = ".";
  std::string files_from;
  bool null = false;
  bool force = false;
  bool skip_special = false;
  int threads = 0;  // 0: by the cores
  std::vector<std::string> hints;
  std::string compress;
};

struct Result {
  int64_t bytes = 0;
  std::vector<std::string> changed;  // files whose size changed while they were read
  std::string strategy;
};

std::string read_all(int fd, const std::string& shown) {
  std::string text;
  std::vector<char> buffer(kBufferBytes);
  for (;;) {
    const ssize_t got = read(fd, buffer.data(), buffer.size());
    const int number = errno;
    stop_if_interrupted();  // an interrupted list is incomplete
    errno = number;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_with_errno("read", shown);
    if (got == 0) return text;
    text.append(buffer.data(), static_cast<size_t>(got));
  }
}

std::string read_list(const std::string& from) {
  if (from == "-") return read_all(STDIN_FILENO, "standard input");
  const Descriptor fd(open(from.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) fail_with_errno("open", from);
  return read_all(fd.get(), from);
}

void add_list(TreeWalk& walk, const Options& options, const std::string& from) {
  const std::string list = read_list(from);
  if (!options.null && list.find('\0') != std::string::npos) {
    throw Failure(kUsage,
                  fmt::format("the list '{}' contains a zero byte; if these terminate the paths, use --null", from));
  }
  std::istringstream paths(list);
  for (std::string path; std::getline(paths, path, options.null ? '\0' : '\n');) {
    if (!path.empty()) walk.add(path);
  }
}

TreeWalk collect(const Options& options, int base) {
  if (options.paths.empty() && options.files_from.empty()) {
    throw Failure(kUsage, "nothing to pack: give a PATH or --files-from");
  }
  TreeWalk walk(base, options.skip_special);
  for (const int32_t k : physical_files_of(options.file)) {
    struct stat status = {};
    if (lstat(physical_name(options.file, k).c_str(), &status) == 0) walk.leave_out(status.st_dev, status.st_ino);
  }
  for (const std::string& path : options.paths) {
    if (path == "-") {
      add_list(walk, options, "-");
    } else {
      walk.add(path);
    }
  }
  if (!options.files_from.empty()) add_list(walk, options, options.files_from);
  return walk;
}

// Writes a share of the entries into the multifile, each as a logical file of its name.
class Packer {
 public:
  Packer(tw_multifile* multifile, int base, const TreeWalk& walk, Progress& progress)
      : multifile_(multifile), base_(base), walk_(walk), progress_(progress), buffer_(kBufferBytes) {}

  Result pack(size_t first, size_t end, const std::atomic<bool>& failed) {
    for (size_t i = first; i < end && !failed; ++i) {
      const Entry& entry = walk_.entries()[i];
      check(tw_multifile_add(multifile_, entry.name.c_str(), entry.mode));
      if (S_ISREG(entry.mode)) copy_file(entry, failed);
      if (S_ISLNK(entry.mode)) copy_link(entry);
      progress_.add(0, walk_.bytes());
    }
    return std::move(result_);
  }

 private:
  void write(size_t bytes) {
    check(tw_multifile_write(multifile_, buffer_.data(), bytes));
    result_.bytes += static_cast<int64_t>(bytes);
    progress_.add(static_cast<int64_t>(bytes), walk_.bytes());
  }

  void copy_file(const Entry& entry, const std::atomic<bool>& failed) {
    // O_NONBLOCK: a pipe in place of the file must not block; fstat then detects it.
    const Descriptor fd(openat(base_, entry.name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    struct stat status = {};
    if (!fd || fstat(fd.get(), &status) != 0) fail_with_errno("read", entry.name);
    if (!S_ISREG(status.st_mode)) {
      throw Failure(kUnsafe, fmt::format("refused: '{}' was a file at the start and is none now", entry.name));
    }
    int64_t stored = 0;
    // A file of size 0 is read all the same: in /proc all have that size.
    while (!failed && (stored == 0 || stored != status.st_size)) {
      const ssize_t got = read(fd.get(), buffer_.data(), buffer_.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail_with_errno("read", entry.name);
      if (got == 0) break;
      write(static_cast<size_t>(got));
      stored += got;
    }
    if (stored == entry.bytes || failed) return;
    result_.changed.push_back(entry.name);
    say(fmt::format("'{}' changed while it was read: it had {} bytes, {} are stored", entry.name, entry.bytes, stored));
  }

  void copy_link(const Entry& entry) {
    const ssize_t got = readlinkat(base_, entry.name.c_str(), buffer_.data(), PATH_MAX);
    if (got < 0) fail_with_errno("read link", entry.name);
    write(static_cast<size_t>(got));
  }

  tw_multifile* multifile_;
  int base_;
  const TreeWalk& walk_;
  Progress& progress_;
  std::vector<char> buffer_;
  Result result_;
};

// The sizes are known, so chunks get about the mean size of a file.
int64_t fitting_chunk_bytes(const TreeWalk& walk) {
  int64_t n = 0;
  for (const Entry& entry : walk.entries()) n += entry.bytes > 0 ? 1 : 0;
  return std::clamp(n > 0 ? walk.bytes() / n : 0, int64_t{64} << 10, int64_t{4} << 20);
}

Config config_of(const Options& options, const TreeWalk& walk) {
  Config config;
  config.hint("chunk_bytes", std::to_string(fitting_chunk_bytes(walk)));
  config.hint("physical_files", "1");
  for (const std::string& hint : options.hints) config.set_hint(hint);
  if (!options.compress.empty()) config.hint("compression", options.compress);
  config.range(0, 0, 0);  // logical files are added by their names
  return config;
}

// The library takes the hints that this command sets for those of the user.
std::string strategy_of(const Multifile& multifile, const Options& options) {
  std::string text = multifile.summarize().strategy;
  for (const auto& [hint, thing] : {std::pair("physical_files=", "physical file"), {"chunk_bytes=", "chunks of"}}) {
    const bool asked = std::ranges::any_of(options.hints, [&](const auto& h) { return h.starts_with(hint); });
    const size_t at = text.find("as asked for", text.find(thing));
    if (!asked && at != std::string::npos) text.replace(at, std::strlen("as asked for"), "chosen by thalweg pack");
  }
  return text;
}

// The close is a step of its own: a thread that fails before abandons the multifile, and the failure is told as it was.
Result write_multifile(const Options& options, const std::string& path, int base, const TreeWalk& walk, bool quiet) {
  const size_t n = walk.entries().size();
  const auto cost = [&](size_t i) { return kFileCost + static_cast<double>(walk.entries()[i].bytes); };
  const int64_t threads =
      workers_for(options.threads, kFileCost * static_cast<double>(n) + static_cast<double>(walk.bytes()));
  const std::vector<size_t> ends = equal_shares(n, threads, cost);
  const Config config = config_of(options, walk);
  Progress progress("pack", quiet);
  const Team team(threads);
  std::vector<std::optional<Multifile>> multifiles(ends.size());
  std::vector<Result> results(ends.size());
  on_threads(threads, [&](int64_t k, const std::atomic<bool>& failed) {
    multifiles[k].emplace(path, TW_CREATE | TW_EXCLUSIVE, config.get(), team.group(k).get());
    results[k] = Packer(multifiles[k]->get(), base, walk, progress).pack(k == 0 ? 0 : ends[k - 1], ends[k], failed);
  });
  Result all;
  all.strategy = strategy_of(*multifiles[0], options);
  check(tw_multifile_set_attribute(multifiles[0]->get(), kStrategyKey, all.strategy.data(), all.strategy.size()));
  for (Result& result : results) {
    all.bytes += result.bytes;
    all.changed.insert(all.changed.end(), result.changed.begin(), result.changed.end());
  }
  on_threads(threads, [&](int64_t k, const std::atomic<bool>&) { multifiles[k]->close(); });
  return all;
}

// The first name of those entries for which `is` is true, and their number.
template <class Is>
std::pair<std::string, int64_t> names_that(const TreeWalk& walk, Is is) {
  std::pair<std::string, int64_t> found;
  for (const Entry& entry : walk.entries()) {
    stop_if_interrupted();
    if (is(entry) && found.second++ == 0) found.first = entry.name;
  }
  return found;
}

// Names that 'thalweg extract' refuses.
std::pair<std::string, int64_t> unsafe_names(const TreeWalk& walk) {
  return names_that(walk, [](const Entry& entry) { return !unsafe_name(entry.name).empty(); });
}

void warn(const TreeWalk& walk) {
  for (const std::string& name : walk.left_out()) say(fmt::format("skipped '{}': it is the replaced file", name));
  std::unordered_set<std::string> met;  // "d" and "d/" are one directory without conflict
  const auto [second, n_met] = names_that(
      walk, [&](const Entry& entry) { return !met.insert(plain_name(entry.name)).second && !S_ISDIR(entry.mode); });
  if (n_met > 0) {
    say(fmt::format("{} {} another one, as '{}'; 'thalweg extract' makes the last of them", count_text(n_met, "name"),
                    n_met == 1 ? "equals" : "equal", second));
  }
  for (const std::string& name : walk.skipped()) say(fmt::format("skipped '{}': a device, pipe or socket", name));
  const auto& [first, n] = unsafe_names(walk);
  if (n == 0) return;
  say(fmt::format(
      "{} {} absolute or with '..', as '{}', which 'thalweg extract' refuses; to store relative names: -C DIR",
      count_text(n, "name"), n == 1 ? "is" : "are", first));
}

int run(const Options& options, const Common& common) {
  NewMultifile target(options.file, options.force);
  const Descriptor base(open(options.directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!base) fail_with_errno("open directory", options.directory);
  const TreeWalk walk = collect(options, base.get());
  if (!common.quiet) warn(walk);
  const Result result = target.write(
      [&](const std::string& passing) { return write_multifile(options, passing, base.get(), walk, common.quiet); });
  target.publish();
  const size_t n = walk.entries().size();
  put_result(
      common, json_head("pack", options.file),
      {{"logical_files", n},
       {"bytes", result.bytes},
       {"skipped", walk.skipped()},
       {"changed", result.changed},
       {"unsafe_names", unsafe_names(walk).second},
       {"strategy", result.strategy},
       {"exit_code", 0}},
      fmt::format("{}: {} with {}\nstrategy: {}\n", printable(options.file),
                  count_text(static_cast<int64_t>(n), "logical file"), size_text(result.bytes), result.strategy));
  return kFine;
}

Run add(CLI::App& app) {
  auto options = std::make_shared<Options>();
  plain_word(app.add_option("FILE", options->file, "The new multifile")->required());
  plain_word(app.add_option("PATH", options->paths, "Files and directories; '-' reads a list from standard input"));
  plain_word(app.add_option("-C,--directory", options->directory, "Directory of relative paths")->type_name("DIR"));
  plain_word(app.add_option("-T,--files-from", options->files_from,
                            "Pack the paths listed in this file, too, one per line; '-' is standard input")
                 ->type_name("LIST"));
  app.add_flag("-0,--null", options->null, "Listed paths are terminated by zero bytes, as by find -print0");
  app.add_option("--compress", options->compress, "Compress the content")->check(CLI::IsMember({"zstd", "lz4"}));
  plain_word(app.add_option("--hint", options->hints, "A hint for the new multifile; 'thalweg hints' lists all")
                 ->type_name("NAME=VALUE")
                 ->allow_extra_args(false));
  app.add_option("-j,--threads", options->threads, "Threads that read and write; default: the cores")
      ->check(CLI::Range(1, kMostWorkers))
      ->type_name("N");
  app.add_flag("--skip-special", options->skip_special, "Skip devices, pipes and sockets instead of refusing them");
  app.add_flag("-f,--force", options->force, "Replace FILE if it exists");
  return [options](const Common& common) { return run(*options, common); };
}

}  // namespace

const Command kPack = {
    "pack",
    "Store files and directory trees in a multifile",
    "Names are stored as given, so give relative ones: pack warns of absolute names and '..', which 'thalweg extract' "
    "refuses. Stored are content, name and mode of regular files, directories (also empty ones) and symbolic links, "
    "which are not followed. Owners, times, hard links and extended attributes are not stored. A repeated name is "
    "stored once.\n"
    "\nSeveral threads read and write; neither their number nor their order changes the order of the logical files. "
    "There is one physical file, unless --hint physical_files=N asks for more.\n"
    "\nA file that changes its size meanwhile is stored as it was read, with a warning. FILE appears when it is "
    "complete; after a failure no file remains.",
    "  command, file, exit_code\n"
    "  logical_files: stored number, including directories and links; bytes: their content\n"
    "  skipped: special files; changed: files whose size changed while they were read\n"
    "  unsafe_names: number of names that 'thalweg extract' refuses\n"
    "  strategy: the library's choice, as text\n",
    "  thalweg pack docs.tw -C /usr/share doc\n"
    "  find run -name '*.log' -print0 | thalweg pack logs.tw --null --files-from - --compress zstd\n",
    add};

}  // namespace tool
