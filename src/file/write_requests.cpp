// Requests: what all tasks ask for, checked against each other.
#include <algorithm>
#include <unordered_map>

#include "file/write_plan.hpp"

namespace thalweg {

Bytes encode(const WriteRequest& request) {
  WireWriter out;
  out.put_status(request.status);
  out.put(request.arguments);
  out.put(request.n_logical);
  out.put(request.chunk_bytes);
  out.put(request.process);
  out.put(request.node);
  out.put_all(request.runs);
  return out.take();
}

Result<Requests> Requests::decode(const Gathered& gathered) {
  Requests all;
  const std::size_t tasks = gathered.parts();
  all.process_.reserve(tasks);
  all.chunk_bytes_.reserve(tasks);
  all.run_begin_.reserve(tasks + 1);
  all.run_begin_.push_back(0);
  std::vector<std::int64_t> node;
  node.reserve(tasks);
  std::uint64_t arguments = 0;
  for (std::size_t task = 0; task < tasks; ++task) {
    if (gathered.part(task).empty())
      return Status::error(Code::no_memory, "task " + std::to_string(task) + " had no memory to tell what it asks for");
    WireReader in(gathered.part(task));
    const std::string who = tasks > 1 ? "task " + std::to_string(task) : "";
    if (const Status status = in.get_status(); !status.ok()) return tasks > 1 ? status.with_context(who) : status;
    const auto hash = in.get<std::uint64_t>();
    const auto n_logical = in.get<std::uint64_t>();
    if (task == 0) {
      arguments = hash;
      all.n_logical_ = n_logical;
    } else if (hash != arguments || n_logical != all.n_logical_) {
      return Status::error(Code::invalid_argument,
                           who +
                               " gave another path, mode, number of logical files or hint than task 0; all but "
                               "chunk_bytes, buffer_bytes and the ranks must be the same on all tasks");
    }
    all.chunk_bytes_.push_back(in.get<std::uint64_t>());
    all.process_.push_back(in.get<std::int64_t>());
    node.push_back(in.get<std::int64_t>());
    const auto runs = in.get_all<RankRun>();
    all.runs_.insert(all.runs_.end(), runs.begin(), runs.end());
    all.run_begin_.push_back(all.runs_.size());
  }
  all.count_nodes(node);
  TW_RETURN_IF_ERROR(all.check_overlap());
  return all;
}

void Requests::count_nodes(const std::vector<std::int64_t>& node) {
  std::unordered_map<std::int64_t, std::size_t> tasks_on;
  for (const std::int64_t n : node) tasks_on_fullest_node_ = std::max(tasks_on_fullest_node_, ++tasks_on[n]);
  nodes_ = static_cast<std::int64_t>(tasks_on.size());
}

Status Requests::check_overlap() const {
  const auto by_first = [](const RankRun& a, const RankRun& b) { return a.first < b.first; };
  std::vector<RankRun> sorted;
  std::span<const RankRun> runs = runs_;
  if (!std::is_sorted(runs_.begin(), runs_.end(), by_first)) {
    sorted = runs_;
    std::sort(sorted.begin(), sorted.end(), by_first);
    runs = sorted;
  }
  std::uint64_t end = 0;
  for (const RankRun& run : runs) {
    if (run.count == 0) continue;
    if (run.first < end)
      return Status::error(Code::invalid_argument, "logical file " + std::to_string(run.first) +
                                                       " would be written by two tasks (or is named twice by one)");
    if (run.first >= n_logical_ || run.count > n_logical_ - run.first)
      return Status::error(Code::invalid_argument, "logical files " + std::to_string(run.first) + " .. " +
                                                       std::to_string(run.first + run.count - 1) +
                                                       " are asked for; there are 0 .. " + std::to_string(n_logical_) +
                                                       "-1");
    end = run.first + run.count;
  }
  return {};
}

}  // namespace thalweg
