// Requests: what all tasks ask for, checked against each other.
#include <algorithm>

#include "multifile/write_plan.hpp"

namespace thalweg {

namespace {

Status of_task(std::size_t task, std::size_t tasks, const Status& status) {
  return tasks > 1 ? status.with_context("task " + std::to_string(task)) : status;
}

}  // namespace

// The ranks are told by their distance from those of a task that serves an even share.
Bytes encode(const WriteRequest& request, std::size_t task, std::size_t tasks) {
  WireWriter out;
  out.put_status(request.status);
  if (!request.status.ok()) return out.take();  // nothing else is asked
  out.put(request.arguments);
  out.put_near(request.n_logical, tasks);
  out.put_short(request.chunk_bytes);
  out.put_near(static_cast<std::uint64_t>(request.process), task);
  out.put_short(static_cast<std::uint64_t>(request.node));
  out.put_short(request.ranges.size());
  std::uint64_t expected = even_share(task, tasks, request.n_logical);
  for (const RankRange& range : request.ranges) {
    out.put_near(range.first, expected);
    out.put_short(range.count);
    expected = range.first + range.count;
  }
  return out.take();
}

Requests::Asked Requests::read_one(WireReader& in, std::size_t task, std::vector<RankRange>& ranges) const {
  (void)in.get_status().ok();     // it is
  (void)in.get<std::uint32_t>();  // arguments
  (void)in.get_near(tasks_);      // n_logical: both are the same everywhere
  Asked asked;
  asked.task = task;
  asked.chunk_bytes = in.get_short();
  asked.process = static_cast<std::int64_t>(in.get_near(task));
  asked.node = static_cast<std::int64_t>(in.get_short());
  ranges.resize(in.get_short());
  std::uint64_t expected = even_share(task, tasks_, n_logical_);
  for (RankRange& range : ranges) {
    range.first = in.get_near(expected);
    range.count = in.get_short();
    expected = range.first + range.count;
  }
  asked.ranges = ranges;
  return asked;
}

// In the order of the tasks, up to the first that is wrong.
Status Requests::check_heads(const Gathered& gathered) {
  std::uint32_t arguments = 0;
  for (std::size_t task = 0; task < tasks_; ++task) {
    WireReader in(gathered.part(task));
    if (gathered.part(task).empty())
      return Status::error(Code::no_memory, "task " + std::to_string(task) + " had no memory to tell what it asks for");
    if (const Status status = in.get_status(); !status.ok()) return of_task(task, tasks_, status);
    const auto hash = in.get<std::uint32_t>();
    const std::uint64_t n_logical = in.get_near(tasks_);
    if (task == 0) {
      arguments = hash;
      n_logical_ = n_logical;
    } else if (hash != arguments || n_logical != n_logical_) {
      return Status::error(Code::invalid_argument,
                           "task " + std::to_string(task) +
                               " gave another path, mode, number of logical files or hint than task 0; all but "
                               "chunk_bytes, buffer_bytes and the ranks must be the same on all tasks");
    }
  }
  return {};
}

Result<Requests> Requests::decode(Gathered gathered) {
  Requests all;
  all.tasks_ = gathered.parts();
  TW_RETURN_IF_ERROR(all.check_heads(gathered));
  all.data_ = std::move(gathered.data);  // where each begins need not be kept
  all.count_nodes();
  TW_RETURN_IF_ERROR(all.check_overlap());
  return all;
}

void Requests::count_nodes() {
  std::vector<std::uint32_t> tasks_on;  // nodes are numbered without gaps, so there are no more than tasks
  for_each([&](const Asked& asked) {
    if (asked.task == 0) root_process_ = asked.process;
    const auto node = std::min(static_cast<std::size_t>(asked.node), tasks_ - 1);
    if (node >= tasks_on.size()) tasks_on.resize(node + 1);
    ++tasks_on[node];
  });
  for (const std::uint32_t n : tasks_on) tasks_on_fullest_node_ = std::max<std::size_t>(tasks_on_fullest_node_, n);
  nodes_ = tasks_on.size() - static_cast<std::size_t>(std::count(tasks_on.begin(), tasks_on.end(), 0u));
}

// `end`: of the ranges of lower ranks.
Status Requests::check_range(const RankRange& range, std::uint64_t end) const {
  if (range.first < end)
    return Status::error(Code::invalid_argument, "logical file " + std::to_string(range.first) +
                                                     " would be written by two tasks (or is named twice by one)");
  if (range.first < n_logical_ && range.count <= n_logical_ - range.first) return {};
  return Status::error(Code::invalid_argument, "logical files " + std::to_string(range.first) + " .. " +
                                                   std::to_string(range.first + range.count - 1) +
                                                   " are asked for; there are 0 .. " + std::to_string(n_logical_) +
                                                   "-1");
}

// Most often the tasks serve ascending ranks, and nothing has to be sorted.
Status Requests::check_overlap() const {
  bool ascending = true;
  std::size_t n = 0;
  std::uint64_t last = 0;
  const auto each_range = [this](auto&& fn) {
    for_each([&](const Asked& asked) {
      for (const RankRange& range : asked.ranges)
        if (range.count > 0) fn(range);
    });
  };
  each_range([&](const RankRange& range) {
    ascending &= range.first >= last;
    last = range.first;
    ++n;
  });
  Status status;
  std::uint64_t end = 0;
  const auto check = [&](const RankRange& range) {
    if (status.ok()) status = check_range(range, end);
    end = range.first + range.count;
  };
  if (ascending) {
    each_range(check);
    return status;
  }
  std::vector<RankRange> sorted;
  sorted.reserve(n);
  each_range([&](const RankRange& range) { sorted.push_back(range); });
  std::sort(sorted.begin(), sorted.end(), [](const RankRange& a, const RankRange& b) { return a.first < b.first; });
  for (const RankRange& range : sorted) check(range);
  return status;
}

}  // namespace thalweg
