#include "group/agree.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/vote.hpp"
#include "base/wire.hpp"

namespace thalweg {

namespace {

// Decides which failure is reported when several tasks fail differently: the last one of these. Wrong arguments, which
// the caller can correct, come first; defects and lost data come last. The numbers of the codes cannot serve: the ABI
// fixes them.
constexpr Code kBySeverity[] = {Code::ok,
                                Code::stopped,
                                Code::not_built,
                                Code::invalid_argument,
                                Code::unknown_hint,
                                Code::out_of_range,
                                Code::wrong_mode,
                                Code::already_exists,
                                Code::not_found,
                                Code::no_permission,
                                Code::unsafe,
                                Code::not_closed,
                                Code::unsupported_version,
                                Code::no_memory,
                                Code::no_space,
                                Code::io_error,
                                Code::corrupt_file,
                                Code::internal};

std::int64_t severity(Code code) { return std::ranges::find(kBySeverity, code) - std::begin(kBySeverity); }

std::int64_t to_vote(const Status& mine, TaskRank rank) { return mine.ok() ? 0 : vote_of(severity(mine.code()), rank); }

// Whether a text begins with "task N: ", the prefix of a failure of another task.
bool names_a_task(std::string_view text) {
  constexpr std::string_view kTask = "task ";
  if (!text.starts_with(kTask)) return false;
  const std::size_t end = text.find_first_not_of("0123456789", kTask.size());
  return end != text.npos && end > kTask.size() && text.substr(end).starts_with(": ");
}

Status from_task(const Status& status, TaskRank from) {
  if (status.ok()) return Status::error(Code::internal, "agreement lost its message");
  std::string message = status.message();
  if (!names_a_task(message)) message = fmt::format("task {}: {}", from, message);
  return Status::failed_call(status.code(), status.os_errno(), std::move(message));
}

// The reduction takes a maximum. For the smallest `value` each task sends the complement of its own.
std::int64_t as_sent(std::int64_t value, Reduction how) { return how == Reduction::max ? value : INT64_MAX - value; }

}  // namespace

Op<Result<std::int64_t>> agree_on(Group& group, Status mine, std::int64_t value, Reduction how) {
  if (group.size() == 1) {
    if (!mine.ok()) co_return mine;
    co_return value;
  }
  std::vector<std::int64_t> vote{to_vote(mine, group.rank()), as_sent(value, how)};
  TW_CO_ASSIGN_OR_RETURN(const auto worst, co_await group.allreduce(std::move(vote), Reduction::max));
  if (worst[0] == 0) co_return as_sent(worst[1], how);
  // Only a failure costs a second collective: the good case is one small reduction.
  const TaskRank speaker = rank_of_vote(worst[0]);
  WireWriter said;
  if (group.rank() == speaker) said.put_status(mine);
  TW_CO_ASSIGN_OR_RETURN(const auto heard, co_await group.broadcast(said.bytes(), speaker));
  co_return from_task(WireReader(heard).get_status(), speaker);
}

Op<Status> agree(Group& group, Status mine) {
  const auto agreed = co_await agree_on(group, std::move(mine), 0, Reduction::max);
  co_return agreed.status();
}

Op<Status> same_on_all(Group& group, std::int64_t a, std::int64_t b, Status mine, const char* what, Code code) {
  if (group.size() == 1) co_return mine;
  std::vector<std::int64_t> bounds{a, ~a, b, ~b, mine.ok() ? 0 : 1};
  TW_CO_ASSIGN_OR_RETURN(const auto max, co_await group.allreduce(std::move(bounds), Reduction::max));
  const bool all_well = max[4] == 0;
  const bool same = max[0] == ~max[1] && max[2] == ~max[3];
  if (all_well && same) co_return Status{};  // the reduction gave all tasks the same answer
  if (all_well) mine = Status::error(code, "{} differ between tasks", what);
  co_return co_await agree(group, std::move(mine));
}

Op<Status> agree_on_call(Group& group) {
  CallsOfAll all(group.call(), group.rank());
  CallsOfAll before;
  Status status = co_await group.fold(&all, &before, folding_of<CallsOfAll>());
  if (status.ok() && all.differ()) status = end_out_of_step(group, all);
  co_return status;
}

}  // namespace thalweg
