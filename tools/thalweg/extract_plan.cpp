// Which logical files are extracted, their names, and conflicts between the names.
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

// Ascending, without duplicates.
std::vector<Range> sorted(std::vector<Range> ranges) {
  std::ranges::sort(ranges);
  std::vector<Range> disjoint;
  for (const Range& range : ranges) {
    if (!disjoint.empty() && range.first <= disjoint.back().second) {
      disjoint.back().second = std::max(disjoint.back().second, range.second);
    } else {
      disjoint.push_back(range);
    }
  }
  return disjoint;
}

std::vector<Range> chosen_ranks(const Multifile& multifile, const ExtractChoice& choice, bool& whole) {
  const int64_t n = multifile.summarize().n_logical;
  std::vector<Range> ranges;
  for (const std::string& text : choice.tasks) {
    add_ranks(text, ranges);
    check_rank(ranges.back().second, n, choice.file);
  }
  for_chosen(multifile, choice.file, choice.names, whole, [&](int64_t rank) { ranges.emplace_back(rank, rank); });
  if (choice.tasks.empty() && choice.names.empty() && n > 0) ranges.emplace_back(0, n - 1);
  return sorted(std::move(ranges));
}

std::vector<Range> chosen_vps(const std::vector<int64_t>& shape, const ExtractChoice& choice) {
  std::vector<Range> ranges;
  ranges.reserve(choice.vps.size());
  for (const std::string& text : choice.vps) ranges.push_back(parse_vps(text, shape, choice.file));
  if (choice.vps.empty()) ranges.emplace_back(0, count_of(shape) - 1);
  return sorted(std::move(ranges));
}

// `add` makes the job of one file. Ranges of equal entries are skipped together: a file may claim any number.
template <class File, class Add>
ExtractPlan plan_ranges(const File& file, const std::vector<Range>& ranges, Add add) {
  ExtractPlan plan;
  OneByOne one_by_one;
  for (const auto& [first, last] : ranges) {
    for (int64_t rank = first; rank <= last;) {
      stop_if_interrupted();
      Alike alike = file.alike(rank);
      alike.last = std::min(alike.last, last);
      const bool alone = alike.last == rank || one_by_one.takes(alike.last - rank + 1);
      if (alone && !alike.lost()) {
        for (int64_t one = rank; one <= alike.last; ++one) plan.jobs.push_back(add(one));
      } else if (alone) {
        for (int64_t one = rank; one <= alike.last; ++one) plan.jobs.push_back({one, one, {}, 0, 0, alike.message});
      } else if (alike.lost()) {
        plan.jobs.push_back({rank, alike.last, {}, 0, 0, alike.message});
      } else {
        plan.nothing.emplace_back(rank, alike.last);
      }
      rank = alike.last + 1;
    }
  }
  return plan;
}

void check_type(const ExtractJob& job) {
  const uint32_t type = job.mode & S_IFMT;
  if (type == 0 || type == S_IFREG || type == S_IFDIR || type == S_IFLNK) return;
  throw Failure(kUnsafe, fmt::format("refused: '{}' (task {}) is neither file, directory nor symbolic link (mode "
                                     "{:06o}); 'thalweg cat' prints its bytes",
                                     job.name, job.rank, job.mode));
}

void check_name(const ExtractJob& job, const std::string& pattern) {
  std::string reason = unsafe_name(job.name);
  if (reason.empty() && plain_name(job.name).empty() && !S_ISDIR(job.mode)) reason = "is the target directory";
  if (reason.empty()) return;
  if (!pattern.empty()) {
    throw Failure(kUnsafe, fmt::format("refused: pattern '{}' makes the name '{}' of task {}, which {}; use a pattern "
                                       "below the target directory, such as '{}'",
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
  ExtractJob* job;
};

// Order of names in which the content of a directory directly follows it: '/' before any other byte.
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

bool supersedes(const ExtractJob& later, const ExtractJob& job) {
  return later.named && job.named && later.part == job.part && !S_ISDIR(later.mode) && !S_ISDIR(job.mode);
}

// In that order conflicting names are neighbours. Removes the superseded jobs; returns their number.
int64_t resolve_conflicts(std::vector<ExtractJob>& jobs) {
  std::vector<Target> targets;
  targets.reserve(jobs.size());
  for (ExtractJob& job : jobs) {
    stop_if_interrupted();
    if (job.lost.empty()) targets.push_back({plain_name(job.name), &job});
  }
  std::ranges::stable_sort(targets, [](const Target& a, const Target& b) {
    stop_if_interrupted();
    return comes_before(a, b);
  });
  for (size_t i = 1; i < targets.size(); ++i) {
    stop_if_interrupted();
    const Target &a = targets[i - 1], &b = targets[i];
    const bool directories = S_ISDIR(a.job->mode) && S_ISDIR(b.job->mode);
    a.job->superseded = a.name == b.name && supersedes(*b.job, *a.job);
    if (a.name == b.name && !directories && !a.job->superseded) refuse_both(*a.job, *b.job, "would be one file");
    if (!S_ISDIR(a.job->mode) && b.name.starts_with(a.name + "/")) {
      refuse_both(*a.job, *b.job, "conflict: one name is a directory of the other");
    }
  }
  return static_cast<int64_t>(std::erase_if(jobs, [](const ExtractJob& job) { return job.superseded; }));
}

// The other files are extracted when an entry is damaged.
template <class Look>
void look_at(ExtractJob& job, Look look) {
  try {
    look();
  } catch (const Failure& failure) {
    if (!is_loss(failure.status)) throw;
    job.bytes = 0;
    job.lost = failure.what();
  }
}

}  // namespace

ExtractPlan plan_extract(const Multifile& multifile, const ExtractChoice& choice) {
  const NamePattern pattern(choice.pattern.empty() ? kDefaultPattern : choice.pattern);
  bool whole = true;
  ExtractPlan plan = plan_ranges(multifile, chosen_ranks(multifile, choice, whole), [&](int64_t rank) {
    ExtractJob job{rank, rank, {}, 0, 0, {}};
    look_at(job, [&] {
      job.bytes = multifile.bytes(rank);
      job.name = multifile.name(rank, &job.mode);
      job.named = !job.name.empty();
      if (job.named) job.part = multifile.part(rank);
    });
    if (!job.lost.empty()) return job;
    if (job.part >= 0) job.name += fmt::format(".{}", job.part);
    if (!choice.pattern.empty() || !job.named) job.name = pattern.name(rank);
    while (choice.relative && job.name.starts_with('/')) job.name.erase(0, 1);
    check_name(job, choice.pattern);
    check_type(job);
    return job;
  });
  plan.superseded = resolve_conflicts(plan.jobs);
  plan.whole = whole;
  return plan;
}

ExtractPlan plan_extract(const Vpfile& file, const std::vector<int64_t>& shape, const ExtractChoice& choice) {
  const NamePattern pattern(choice.pattern.empty() ? kVpPattern : choice.pattern);
  return plan_ranges(file, chosen_vps(shape, choice), [&](int64_t vp) {
    ExtractJob job{vp, vp, pattern.name(vp), 0, 0, {}};
    const std::string reason = unsafe_name(job.name);
    if (!reason.empty()) {
      throw Failure(kUnsafe, fmt::format("refused: pattern '{}' makes the name '{}' of virtual processor {}, which {}; "
                                         "use a pattern below the target directory, such as '{}'",
                                         choice.pattern, job.name, vp, reason, kVpPattern));
    }
    look_at(job, [&] { job.bytes = file.bytes(vp); });
    return job;
  });
}

}  // namespace tool
