#include "multifile/write_requests.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace thalweg {

// Ranks travel as their distance from those of a task that serves an even share.
Bytes encode(const WriteRequest& request, std::size_t task, std::size_t tasks) {
  WireWriter out;
  out.put_status(request.status);
  if (!request.status.ok()) return out.take();
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

void WriteRequests::read(WireReader& in, std::size_t task, std::size_t tasks, WriteRequest& out) {
  out.status = in.get_status();
  if (!out.status.ok()) return;
  out.arguments = in.get<std::uint32_t>();
  out.n_logical = in.get_near(tasks);
  out.chunk_bytes = in.get_short();
  out.process = static_cast<std::int64_t>(in.get_near(task));
  out.node = static_cast<std::int64_t>(in.get_short());
  out.ranges.resize(in.get_short());
  std::uint64_t expected = even_share(task, tasks, out.n_logical);
  for (RankRange& range : out.ranges) {
    range.first = in.get_near(expected);
    range.count = in.get_short();
    expected = range.first + range.count;
  }
}

Status WriteRequests::check(ByteView encoded, std::size_t task, WriteRequest& request) {
  const std::string name = fmt::format("task {}", task);
  if (encoded.empty()) return Status::error(Code::no_memory, "{} was out of memory for its request", name);
  WireReader in(encoded);
  read(in, task, tasks_, request);
  if (!request.status.ok()) return tasks_ > 1 ? request.status.with_context(name) : request.status;
  if (task == 0) {
    arguments_ = request.arguments;
    n_logical_ = request.n_logical;
    root_process_ = request.process;
  }
  if (request.arguments == arguments_ && request.n_logical == n_logical_) return {};
  return Status::error(Code::invalid_argument,
                       "{} gave another path, mode, number of logical files or hint than task 0; all but chunk_bytes, "
                       "buffer_bytes and the ranks must be the same on all tasks",
                       name);
}

namespace {

Status check_ranges(std::vector<RankRange> ranges, std::uint64_t n_logical) {
  if (!std::ranges::is_sorted(ranges, {}, &RankRange::first)) std::ranges::sort(ranges, {}, &RankRange::first);
  std::uint64_t end = 0;
  for (const auto& [first, count] : ranges) {
    if (first < end)
      return Status::error(Code::invalid_argument,
                           "logical file {} would be written by two tasks (or is named twice by one)", first);
    if (first >= n_logical || count > n_logical - first)
      return Status::error(Code::invalid_argument, "logical files {} .. {} are asked for; there are 0 .. {}-1", first,
                           first + count - 1, n_logical);
    end = first + count;
  }
  return {};
}

}  // namespace

Result<WriteRequests> WriteRequests::decode(Gathered gathered) {
  WriteRequests all;
  all.tasks_ = gathered.parts();
  std::vector<RankRange> ranges;
  ranges.reserve(all.tasks_);
  WriteRequest request;
  for (std::size_t task = 0; task < all.tasks_; ++task) {
    TW_RETURN_IF_ERROR(all.check(gathered.part(task), task, request));
    all.nodes_ = std::max(all.nodes_, request.node + 1);  // nodes are numbered without gaps
    for (const RankRange& range : request.ranges)
      if (range.count > 0) ranges.push_back(range);
  }
  TW_RETURN_IF_ERROR(check_ranges(std::move(ranges), all.n_logical_));
  all.data_ = std::move(gathered.data);
  return all;
}

}  // namespace thalweg
