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
  out.put_short(request.runs.size());
  std::uint64_t expected = even_share(task, tasks, request.n_logical);
  for (const RankRun& run : request.runs) {
    out.put_near(run.first, expected);
    out.put_short(run.count);
    expected = run.first + run.count;
  }
  return out.take();
}

Requests::Asked Requests::read_one(WireReader& in, std::size_t task, std::vector<RankRun>& runs) const {
  (void)in.get_status().ok();     // it is
  (void)in.get<std::uint32_t>();  // arguments
  (void)in.get_near(tasks_);      // n_logical: both are the same everywhere
  Asked asked;
  asked.task = task;
  asked.chunk_bytes = in.get_short();
  asked.process = static_cast<std::int64_t>(in.get_near(task));
  asked.node = static_cast<std::int64_t>(in.get_short());
  runs.resize(in.get_short());
  std::uint64_t expected = even_share(task, tasks_, n_logical_);
  for (RankRun& run : runs) {
    run.first = in.get_near(expected);
    run.count = in.get_short();
    expected = run.first + run.count;
  }
  asked.runs = runs;
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

// `end`: of the runs of lower ranks.
Status Requests::check_run(const RankRun& run, std::uint64_t end) const {
  if (run.first < end)
    return Status::error(Code::invalid_argument, "logical file " + std::to_string(run.first) +
                                                     " would be written by two tasks (or is named twice by one)");
  if (run.first < n_logical_ && run.count <= n_logical_ - run.first) return {};
  return Status::error(Code::invalid_argument, "logical files " + std::to_string(run.first) + " .. " +
                                                   std::to_string(run.first + run.count - 1) +
                                                   " are asked for; there are 0 .. " + std::to_string(n_logical_) +
                                                   "-1");
}

// Most often the tasks serve ascending ranks, and nothing has to be sorted.
Status Requests::check_overlap() const {
  bool ascending = true;
  std::size_t n = 0;
  std::uint64_t last = 0;
  const auto each_run = [this](auto&& fn) {
    for_each([&](const Asked& asked) {
      for (const RankRun& run : asked.runs)
        if (run.count > 0) fn(run);
    });
  };
  each_run([&](const RankRun& run) {
    ascending &= run.first >= last;
    last = run.first;
    ++n;
  });
  Status status;
  std::uint64_t end = 0;
  const auto check = [&](const RankRun& run) {
    if (status.ok()) status = check_run(run, end);
    end = run.first + run.count;
  };
  if (ascending) {
    each_run(check);
    return status;
  }
  std::vector<RankRun> sorted;
  sorted.reserve(n);
  each_run([&](const RankRun& run) { sorted.push_back(run); });
  std::sort(sorted.begin(), sorted.end(), [](const RankRun& a, const RankRun& b) { return a.first < b.first; });
  for (const RankRun& run : sorted) check(run);
  return status;
}

}  // namespace thalweg
