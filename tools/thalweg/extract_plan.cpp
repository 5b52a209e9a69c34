// Which logical files, to which names; and whether these can stand beside each other.
#include "extract_plan.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "command.hpp"
#include "name_pattern.hpp"
#include "safe_path.hpp"

namespace tool {
namespace {

constexpr const char* kDefaultPattern = "task-%06d";
constexpr const char* kVpPattern = "vp-%06d";

void sort_out(std::vector<int64_t>& ranks) {
  std::ranges::sort(ranks);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
}

std::vector<int64_t> chosen_ranks(const Multifile& multifile, const ExtractChoice& choice) {
  const int64_t n = multifile.summary().n_logical;
  std::vector<std::pair<int64_t, int64_t>> ranges;
  for (const std::string& text : choice.tasks) add_ranks(text, ranges);
  std::vector<int64_t> ranks;
  for (const auto& [first, last] : ranges) {
    check_rank(last, n, choice.file);
    for (int64_t rank = first; rank <= last; ++rank) ranks.push_back(rank);
  }
  for (const std::string& name : choice.names) {
    int64_t rank = -1;
    if (tw_multifile_find(multifile.get(), name.c_str(), &rank) != TW_OK) {
      throw Failure(kUsage,
                    fmt::format("'{}' has no logical file named '{}'; 'thalweg ls' lists all", choice.file, name));
    }
    ranks.push_back(rank);
  }
  if (choice.tasks.empty() && choice.names.empty()) {
    for (int64_t rank = 0; rank < n; ++rank) ranks.push_back(rank);
  }
  sort_out(ranks);
  return ranks;
}

std::vector<int64_t> chosen_vps(const std::vector<int64_t>& shape, const ExtractChoice& choice) {
  std::vector<std::pair<int64_t, int64_t>> ranges;
  ranges.reserve(choice.vps.size());
  for (const std::string& text : choice.vps) ranges.push_back(parse_vps(text, shape, choice.file));
  if (choice.vps.empty()) ranges.emplace_back(0, count_of(shape) - 1);
  std::vector<int64_t> vps;
  for (const auto& [first, last] : ranges) {
    for (int64_t vp = first; vp <= last; ++vp) vps.push_back(vp);
  }
  sort_out(vps);
  return vps;
}

void check_type(const ExtractJob& job) {
  const uint32_t type = job.mode & S_IFMT;
  if (type == 0 || type == S_IFREG || type == S_IFDIR || type == S_IFLNK) return;
  throw Failure(kUnsafe,
                fmt::format("refused: '{}' (task {}) is neither file, directory nor symbolic link (mode {:06o}); its "
                            "bytes can be had with 'thalweg cat'",
                            job.name, job.rank, job.mode));
}

void check_name(const ExtractJob& job, const std::string& pattern) {
  std::string reason = unsafe_name(job.name);
  if (reason.empty() && plain_name(job.name).empty() && !S_ISDIR(job.mode)) reason = "is the target directory";
  if (reason.empty()) return;
  if (!pattern.empty()) {
    throw Failure(kUnsafe,
                  fmt::format("refused: by the pattern '{}' the name '{}' of task {} {}; a pattern stays below "
                              "the target directory, as '{}' does",
                              pattern, job.name, job.rank, reason, kDefaultPattern));
  }
  const std::string below = job.name.substr(std::min(job.name.find_first_not_of('/'), job.name.size()));
  const bool absolute = below != job.name && unsafe_name(below).empty() && !plain_name(below).empty();
  const char* relative = absolute ? "with --relative (without its first '/') or " : "";
  throw Failure(kUnsafe, fmt::format("refused: the name '{}' of task {} {}; extract it {}with --pattern '{}', or use "
                                     "'thalweg cat'",
                                     job.name, job.rank, reason, relative, kDefaultPattern));
}

// ---- Conflicts ---------------------------------------------------------------------------------------------------

struct Target {
  std::string name;  // plain
  const ExtractJob* job;
};

// Order of names in which what is below a directory comes directly after it: '/' before any other byte.
bool comes_before(const Target& a, const Target& b) {
  const auto value = [](char c) { return c == '/' ? 0 : static_cast<unsigned char>(c) + 1; };
  return std::ranges::lexicographical_compare(a.name, b.name, {}, value, value);
}

[[noreturn]] void refuse_both(const ExtractJob& a, const ExtractJob& b, const char* what) {
  const ExtractJob& first = a.rank < b.rank ? a : b;
  const ExtractJob& second = a.rank < b.rank ? b : a;
  throw Failure(kUnsafe,
                fmt::format("refused: '{}' (task {}) and '{}' (task {}) {}; extract one of them with --task, or "
                            "name files by their task with --pattern '{}'",
                            first.name, first.rank, second.name, second.rank, what, kDefaultPattern));
}

// In that order a conflict is one of neighbours.
void check_conflicts(const std::vector<ExtractJob>& jobs) {
  std::vector<Target> targets;
  targets.reserve(jobs.size());
  for (const ExtractJob& job : jobs)
    if (job.lost.empty()) targets.push_back({plain_name(job.name), &job});
  std::ranges::stable_sort(targets, comes_before);
  for (size_t i = 1; i < targets.size(); ++i) {
    const Target& a = targets[i - 1];
    const Target& b = targets[i];
    const bool directories = S_ISDIR(a.job->mode) && S_ISDIR(b.job->mode);
    if (a.name == b.name && !directories) refuse_both(*a.job, *b.job, "would be one file");
    if (!S_ISDIR(a.job->mode) && b.name.starts_with(a.name + "/")) {
      refuse_both(*a.job, *b.job, "are in the way of each other: the one name is a directory of the other");
    }
  }
}

// Where the index that tells of it is damaged or its physical file is missing, the others can still be had.
ExtractJob look_at(const Multifile& multifile, int64_t rank) {
  ExtractJob job{rank, {}, 0, 0, {}};
  try {
    job.bytes = multifile.bytes(rank);
    job.name = multifile.name(rank, &job.mode);
  } catch (const Failure& failure) {
    if (failure.status != TW_ERR_NOT_FOUND && failure.status != TW_ERR_CORRUPT) throw;
    job.bytes = 0;
    job.lost = failure.what();
  }
  return job;
}

}  // namespace

std::vector<ExtractJob> plan_extract(const Multifile& multifile, const ExtractChoice& choice) {
  const NamePattern pattern(choice.pattern.empty() ? kDefaultPattern : choice.pattern);
  std::vector<ExtractJob> jobs;
  for (const int64_t rank : chosen_ranks(multifile, choice)) {
    stop_if_interrupted();
    ExtractJob job = look_at(multifile, rank);
    if (!job.lost.empty()) {
      jobs.push_back(std::move(job));
      continue;
    }
    if (!choice.pattern.empty() || job.name.empty()) job.name = pattern.name(rank);
    while (choice.relative && job.name.starts_with('/')) job.name.erase(0, 1);
    check_name(job, choice.pattern);
    check_type(job);
    jobs.push_back(std::move(job));
  }
  check_conflicts(jobs);
  return jobs;
}

std::vector<ExtractJob> plan_extract(const Vpfile& file, const std::vector<int64_t>& shape,
                                     const ExtractChoice& choice) {
  const NamePattern pattern(choice.pattern.empty() ? kVpPattern : choice.pattern);
  std::vector<ExtractJob> jobs;
  for (const int64_t vp : chosen_vps(shape, choice)) {
    stop_if_interrupted();
    ExtractJob job{vp, pattern.name(vp), 0, 0, {}};
    const std::string reason = unsafe_name(job.name);
    if (!reason.empty()) {
      throw Failure(kUnsafe, fmt::format("refused: by the pattern '{}' the name '{}' of virtual processor {} {}; a "
                                         "pattern stays below the target directory, as '{}' does",
                                         choice.pattern, job.name, vp, reason, kVpPattern));
    }
    try {
      job.bytes = file.bytes(vp);
    } catch (const Failure& failure) {
      if (failure.status != TW_ERR_CORRUPT) throw;
      job.lost = failure.what();
    }
    jobs.push_back(std::move(job));
  }
  return jobs;
}

}  // namespace tool
