#include "multifile/served_ranks.hpp"

#include <algorithm>

namespace thalweg {

namespace {

Status bad_rank(std::int64_t rank, std::uint64_t n_logical) {
  const std::string there = n_logical == 0 ? "none" : "0 to " + std::to_string(n_logical - 1);
  return Status::error(Code::invalid_argument,
                       "logical file " + std::to_string(rank) + " is asked for; there are " + there);
}

Status check_named_once(std::vector<RankRun> runs) {
  std::sort(runs.begin(), runs.end(), [](const RankRun& a, const RankRun& b) { return a.first < b.first; });
  for (std::size_t i = 1; i < runs.size(); ++i)
    if (runs[i].first < runs[i - 1].first + runs[i - 1].count)
      return Status::error(Code::invalid_argument, "logical file " + std::to_string(runs[i].first) +
                                                       " is named twice in the set of logical files of one task");
  return {};
}

}  // namespace

Result<std::vector<RankRun>> serving_runs(const Serving& serving, TaskRank rank, TaskRank size,
                                          std::uint64_t n_logical) {
  std::vector<RankRun> runs;
  if (serving.kind == Serving::Kind::automatic) {
    const auto task = static_cast<std::uint64_t>(rank), tasks = static_cast<std::uint64_t>(size);
    const std::uint64_t first = even_share(task, tasks, n_logical);
    runs.push_back({first, even_share(task + 1, tasks, n_logical) - first});
  } else if (serving.kind == Serving::Kind::range) {
    const auto first = static_cast<std::uint64_t>(serving.first), count = static_cast<std::uint64_t>(serving.count);
    if (first > n_logical || count > n_logical - first) return bad_rank(serving.first + serving.count - 1, n_logical);
    runs.push_back({first, count});
  } else {
    for (const std::int64_t r : serving.list) {
      if (r < 0 || static_cast<std::uint64_t>(r) >= n_logical) return bad_rank(r, n_logical);
      const auto u = static_cast<std::uint64_t>(r);
      if (!runs.empty() && runs.back().first + runs.back().count == u) {
        ++runs.back().count;
      } else {
        runs.push_back({u, 1});
      }
    }
    TW_RETURN_IF_ERROR(check_named_once(runs));
  }
  if (runs.size() == 1 && runs[0].count == 0) runs.clear();
  return runs;
}

}  // namespace thalweg
