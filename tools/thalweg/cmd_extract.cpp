// thalweg extract: writes logical files as files below one directory.
//
// All names are checked before the first byte is written. Regular files and directories come first, symbolic links
// last, modes of directories at the very end, so that no entry of the multifile can redirect a later one.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <deque>
#include <functional>
#include <numeric>
#include <string_view>

#include "command.hpp"
#include "common.hpp"
#include "extract_plan.hpp"
#include "progress.hpp"
#include "safe_path.hpp"
#include "text.hpp"
#include "threads.hpp"
#include "vpfile.hpp"

namespace tool {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 20;
constexpr double kFileCost = 64 << 10;  // making a file takes the time of copying so many bytes
constexpr int64_t kBlocks = 16;         // of files, for each thread

struct Options {
  ExtractChoice choice;
  std::string directory = ".";
  bool force = false;
  bool recover = false;
  int threads = 0;                     // 0: by the cores
  bool vpfile = false, closed = true;  // kind and state of FILE
};

struct Result {
  int64_t files = 0, directories = 0, symlinks = 0, bytes = 0;
  std::vector<std::pair<const ExtractJob*, std::string>> failed;

  void add(const Result& other) {  // one without directories and links
    files += other.files;
    bytes = sum_of(bytes, other.bytes);
    failed.insert(failed.end(), other.failed.begin(), other.failed.end());
  }
};

// The source of the data: reads one logical file, or stream, after the other.
struct Source {
  std::function<void(int64_t rank)> begin;
  std::function<tw_status(char* data, size_t most, size_t& got)> read;  // none at the end
  std::function<int64_t()> skip_gap;                                    // length of the gap that follows
};

Source source_of(const Multifile& multifile) {
  tw_multifile* file = multifile.get();
  return {[=](int64_t rank) { check(tw_multifile_seek_to(file, rank, 0)); },
          [=](char* data, size_t most, size_t& got) { return tw_multifile_read(file, data, most, &got); },
          [=] {
            int64_t skipped = 0;
            check(tw_multifile_skip_gap(file, &skipped));
            return skipped;
          }};
}

Source source_of(const Vpfile& file, int64_t& vp) {
  return {[&](int64_t number) { file.begin(vp = number); },
          [&](char* data, size_t most, size_t& got) { return file.read(vp, data, most, got); },
          [&] { return file.skip_gap(vp); }};
}

double cost_of(const ExtractJob& job) { return kFileCost + static_cast<double>(job.bytes); }

double cost_of(const std::vector<ExtractJob>& jobs) {
  return std::accumulate(jobs.begin(), jobs.end(), 0.0,
                         [](double sum, const ExtractJob& job) { return sum + cost_of(job); });
}

// The state that all threads of an extract share.
struct Extraction {
  const Options& options;
  const std::vector<ExtractJob>& jobs;
  Progress progress;
  int64_t total = 0;              // bytes of all jobs
  std::vector<size_t> ends = {};  // of the blocks of jobs that a thread takes in one go
  std::atomic<size_t> next = 0;   // block
};

// One thread of an extract.
class Extractor {
 public:
  Extractor(Source source, Extraction& all)
      : source_(std::move(source)), root_(all.options.directory, all.options.force), all_(all), buffer_(kBufferBytes) {}

  template <class Chosen>
  void extract(size_t first, size_t end, const std::atomic<bool>& failed, Chosen chosen) {
    for (size_t i = first; i < end && !failed; ++i) {
      stop_if_interrupted();
      if (chosen(all_.jobs[i])) attempt(all_.jobs[i]);
    }
  }

  void finish() { root_.finish(); }
  Result& result() { return result_; }

 private:
  // A damaged logical file is reported and skipped; any other failure ends the work.
  void attempt(const ExtractJob& job) {
    try {
      if (!job.lost.empty()) throw Failure(kDamaged, job.lost);
      if (S_ISDIR(job.mode)) {
        root_.directory(job.name, job.mode & 0777);
        ++result_.directories;
      } else if (S_ISLNK(job.mode)) {
        make_link(job);
        ++result_.symlinks;
      } else {
        copy_file(job);
        ++result_.files;
      }
    } catch (const Failure& failure) {
      if (failure.exit != kDamaged) throw;
      say(failure.what());
      result_.failed.emplace_back(&job, failure.what());
    }
  }

  void count(int64_t bytes) {
    result_.bytes = sum_of(result_.bytes, bytes);
    all_.progress.add(bytes, all_.total);
  }

  size_t read_some() {
    size_t got = 0;
    check(source_.read(buffer_.data(), buffer_.size(), got));
    count(static_cast<int64_t>(got));
    return got;
  }

  // Leaves ranges of zeros as holes.
  bool write_sparse(int fd, std::string_view data) {
    constexpr size_t kHoleBytes = size_t{64} << 10;
    static const std::string zeros(kHoleBytes, '\0');
    while (!data.empty()) {
      size_t dense = 0;
      while (dense < data.size() && data.substr(dense, kHoleBytes) != zeros)
        dense += std::min(kHoleBytes, data.size() - dense);
      if (!write_all(fd, data.data(), dense)) return false;
      if (dense > 0) behind_hole_ = false;
      data.remove_prefix(dense);
      if (data.empty()) return true;
      if (lseek(fd, static_cast<off_t>(kHoleBytes), SEEK_CUR) < 0) return false;
      behind_hole_ = true;
      data.remove_prefix(kHoleBytes);
    }
    return true;
  }

  // A file may claim a gap of any length, so gaps are skipped, not read.
  size_t next(int fd, const ExtractJob& job) {
    const int64_t skipped = source_.skip_gap();
    if (skipped > 0 && lseek(fd, static_cast<off_t>(skipped), SEEK_CUR) < 0) fail_with_errno("write", job.name);
    behind_hole_ = behind_hole_ || skipped > 0;
    count(skipped);
    return read_some();
  }

  void copy_file(const ExtractJob& job) {
    source_.begin(job.rank);
    SafeRoot::NewFile file(root_, job.name, job.mode == 0 ? 0666 & ~root_.mask() : job.mode & 0777);
    behind_hole_ = false;
    for (size_t got = next(file.fd(), job); got > 0; got = next(file.fd(), job)) {
      if (write_sparse(file.fd(), std::string_view(buffer_.data(), got))) continue;
      stop_if_interrupted();
      fail_with_errno("write", job.name);
    }
    const bool ends_in_hole = behind_hole_ && ftruncate(file.fd(), lseek(file.fd(), 0, SEEK_CUR)) != 0;
    if (ends_in_hole) fail_with_errno("write", job.name);
    file.keep();
  }

  void make_link(const ExtractJob& job) {
    const auto wrong = [&](const char* what) {
      return Failure(kDamaged, fmt::format("symbolic link '{}' (task {}) has {}", job.name, job.rank, what));
    };
    if (job.bytes == 0 || job.bytes >= PATH_MAX) throw wrong("no target of 1 to 4095 bytes");
    source_.begin(job.rank);
    const std::string target(buffer_.data(), read_some());
    if (target.find('\0') != std::string::npos) throw wrong("a zero byte in its target");
    root_.symlink(job.name, target);
  }

  const Source source_;
  SafeRoot root_;
  Extraction& all_;
  std::vector<char> buffer_;
  bool behind_hole_ = false;  // the file being written ends in a hole so far
  Result result_;
};

// A thread for each source. Directories are made first and get their modes at the end, so that the threads need not
// know what others have made. Blocks are small enough that the threads end at about the same time.
Result extract(const std::vector<Source>& sources, const Options& options, const std::vector<ExtractJob>& jobs,
               bool quiet) {
  Extraction all{options, jobs, Progress("extract", quiet)};
  for (const ExtractJob& job : jobs) all.total = sum_of(all.total, job.bytes);
  const auto threads = std::ssize(sources);
  all.ends =
      equal_shares(jobs.size(), threads == 1 ? 1 : threads * kBlocks, [&](size_t i) { return cost_of(jobs[i]); });
  std::deque<Extractor> extractors;
  for (const Source& source : sources) extractors.emplace_back(source, all);
  const std::atomic<bool> never = false;
  const auto pass = [&](auto chosen) { extractors[0].extract(0, jobs.size(), never, chosen); };
  pass([](const ExtractJob& job) { return S_ISDIR(job.mode); });
  on_threads(threads, [&](int64_t k, const std::atomic<bool>& failed) {
    for (size_t block = all.next++; block < all.ends.size(); block = all.next++)
      extractors[k].extract(block == 0 ? 0 : all.ends[block - 1], all.ends[block], failed,
                            [](const ExtractJob& job) { return !S_ISDIR(job.mode) && !S_ISLNK(job.mode); });
  });
  pass([](const ExtractJob& job) { return S_ISLNK(job.mode); });
  extractors[0].finish();
  Result result = std::move(extractors[0].result());
  for (size_t k = 1; k < extractors.size(); ++k) result.add(extractors[k].result());
  std::ranges::sort(result.failed, {}, [](const auto& failed) { return failed.first->rank; });
  return result;
}

Json members_of(const Options& options, const Result& result, const ExtractPlan& plan, int code) {
  Json members = {{"kind", options.vpfile ? "vpfile" : "multifile"},
                  {"directory", options.directory},
                  {"closed", options.closed},
                  {"files", result.files},
                  {"directories", result.directories},
                  {"symlinks", result.symlinks},
                  {"bytes", result.bytes},
                  {"superseded", plan.superseded},
                  {"failed", Json::array()},
                  {"left_out", Json::array()}};
  const std::string number = options.vpfile ? "vp" : "rank";
  for (const auto& [job, message] : result.failed) {
    Json entry{{number, job->rank}};
    if (job->last != job->rank) entry["last_" + number] = job->last;
    add_name(entry, job->name, job->mode);
    entry["message"] = message;
    members["failed"].push_back(entry);
  }
  for (const auto& [first, last] : plan.nothing)
    members["left_out"].push_back({{number, first}, {"last_" + number, last}});
  members["exit_code"] = code;
  return members;
}

int report(const Options& options, const Common& common, const Result& result, const ExtractPlan& plan) {
  const int code = result.failed.empty() && options.closed && plan.whole ? kFine : kDamaged;
  if (plan.superseded > 0) {
    say(fmt::format("{} left out, as a later one has the same name; 'thalweg ls' lists all, and --task N extracts one",
                    count_text(plan.superseded, "file")));
  }
  for (const auto& [first, last] : plan.nothing) {
    say(fmt::format("{} {} have no stored data: no files are created for them",
                    options.vpfile ? "virtual processors" : "tasks", ranks_text(first, last)));
  }
  put_result(
      common, json_head("extract", options.choice.file), members_of(options, result, plan, code),
      fmt::format("{}: {}, {} director{} and {} with {} in '{}'\n", printable(options.choice.file),
                  count_text(result.files, "file"), result.directories, result.directories == 1 ? "y" : "ies",
                  count_text(result.symlinks, "symbolic link"), size_text(result.bytes), printable(options.directory)));
  return code;
}

// There is nothing to remove yet. The result is static: after a signal millions of jobs take too long to destroy.
template <class Make>
ExtractPlan plan_in_time(Make make) {
  const EndAtOnce at_once([] {});
  return make();
}

int run_vpfile(Options& options, const Common& common) {
  const ExtractChoice& choice = options.choice;
  refuse_option_of_multifiles(!choice.tasks.empty(), "--task", choice.file, "; give --vp N");
  refuse_option_of_multifiles(!choice.names.empty(), "NAME", choice.file, "; give --vp N");
  refuse_option_of_multifiles(choice.relative, "--relative", choice.file);
  refuse_option_of_multifiles(options.recover, "--recover", choice.file, "; 'thalweg repair' closes it");
  const tw_vpfile_stored stored = look_at_vpfile(choice.file);
  const Vpfile file(choice.file);
  static const ExtractPlan plan = plan_in_time([&] { return plan_extract(file, shape_of(stored), choice); });
  options.vpfile = true;
  int64_t vp = 0;
  const Result result = extract({source_of(file, vp)}, options, plan.jobs, common.quiet);
  return report(options, common, result, plan);
}

// A handle for each thread. The open of an unclosed file scans all of it, so that such a file gets one thread.
void open_more(std::vector<Multifile>& handles, int64_t n, const std::string& path) {
  while (std::ssize(handles) < n) {
    handles.emplace_back(path, TW_READ);
    if (std::string_view(handles.back().summarize().uuid) != handles[0].summarize().uuid)
      throw Failure(kInputOutput, fmt::format("'{}' was replaced while it was opened", path));
  }
}

int run(Options& options, const Common& common) {
  note_work("extract", 0, 0, nullptr);
  if (is_vpfile(options.choice.file)) return run_vpfile(options, common);
  refuse_option_of_vpfiles(!options.choice.vps.empty(), "--vp", options.choice.file, "; give --task N");
  std::vector<Multifile> handles;
  handles.push_back(open_for_reading(options.choice.file, options.recover));
  static const ExtractPlan plan = plan_in_time([&] { return plan_extract(handles[0], options.choice); });
  options.closed = handles[0].summarize().closed != 0;
  if (options.closed) open_more(handles, workers_for(options.threads, cost_of(plan.jobs)), options.choice.file);
  std::vector<Source> sources;
  sources.reserve(handles.size());
  for (const Multifile& handle : handles) sources.push_back(source_of(handle));
  const Result result = extract(sources, options, plan.jobs, common.quiet);
  return report(options, common, result, plan);
}

Run add(CLI::App& app) {
  auto options = std::make_shared<Options>();
  plain_word(app.add_option("FILE", options->choice.file, "The multifile or vpfile")->required());
  plain_word(
      app.add_option("NAME", options->choice.names, "Only these names, directories, or patterns with * ? [...]"));
  plain_word(
      app.add_option("-C,--directory", options->directory, "Target directory; created when missing")->type_name("DIR"));
  plain_word(app.add_option("-t,--task", options->choice.tasks, "Only these ranks: N or FIRST-LAST; may be repeated"))
      ->type_name("N")
      ->allow_extra_args(false);
  plain_word(
      app.add_option("--vp", options->choice.vps,
                     "Only these virtual processors: N, FIRST-LAST, or an index in the shape I,J,...; may be repeated"))
      ->type_name("N")
      ->allow_extra_args(false);
  plain_word(app.add_option("-p,--pattern", options->choice.pattern,
                            "Name files by their rank or number, as in 'task-%06d', instead of by "
                            "their stored name"));
  app.add_flag("--relative", options->choice.relative, "Strip the leading '/' of absolute names");
  app.add_flag("-f,--force", options->force, "Replace existing files");
  app.add_option("-j,--threads", options->threads, "Threads that read and write; default: the cores")
      ->check(CLI::Range(1, kMostWorkers))
      ->type_name("N");
  app.add_flag("--recover", options->recover, "Extract the intact part of an unclosed file");
  return [options](const Common& common) { return run(*options, common); };
}

}  // namespace

const Command kExtract = {
    "extract",
    "Write logical files, or the streams of virtual processors, as files",
    "Without NAME all files are extracted. NAME is that of a file, or NAME.PART, or that of a directory with all below "
    "it, or a pattern as of a shell, in which * and ? match '/' too; one that matches nothing is an error.\n"
    "\nFiles get their stored name; a file without a name becomes task-%06d with its rank. Modes are restored, without "
    "set-user-ID, set-group-ID and sticky bits.\n"
    "\nNo file is ever written outside the target directory: absolute names, '..', special files, and symbolic links "
    "in the path are refused with 4, and so is an existing file, unless --force is given. All names are checked before "
    "the first write. Symbolic links are created last; their targets are not restricted.\n"
    "\nWhere several logical files have one name, the last one is extracted, as by tar, and a line tells how many are "
    "left out; --task N extracts one of them, and --pattern gives each its own name. A part of a distributed array "
    "becomes NAME.PART.\n"
    "\nA file appears under its name when it is complete, so that an interrupted or failed extract leaves no partial "
    "files. A file with damaged content is skipped; the others are extracted, and the command exits with 1.\n"
    "\nDirectories are created first, then the files by several threads; an unclosed multifile and a vpfile are read "
    "by one.\n"
    "\nConsecutive tasks without stored data become empty files; more than 1000 in total are reported and skipped.\n"
    "\nEach stream of a vpfile becomes a file vp-%06d with the number of its virtual processor, or named by --pattern.",
    "  command, file, directory, closed, exit_code; kind: \"multifile\" or \"vpfile\"\n"
    "  files, directories, symlinks: extracted numbers; bytes: their content; superseded: number of files left out, as "
    "a "
    "later one has the name\n"
    "  failed: for each damaged file: rank (of a vpfile: vp), name, name_hex, mode, message; last_rank (last_vp): end "
    "of a range\n"
    "  left_out: long ranges without stored data: rank, last_rank (of a vpfile: vp, last_vp)\n",
    "  thalweg extract docs.tw -C restored\n"
    "  thalweg extract docs.tw README 'src/*.c'\n"
    "  thalweg extract dump.tw --task 0 8-15 --pattern 'task-%06d.bin'\n"
    "  thalweg extract particles.vp --vp 0-15 -C streams\n",
    add};

}  // namespace tool
