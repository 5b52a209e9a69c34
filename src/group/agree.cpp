#include "group/agree.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/vote.hpp"
#include "base/wire.hpp"

namespace thalweg {

namespace {

// Decides which failure is reported when several tasks fail differently: defects and lost data come first; wrong
// arguments, which the caller can correct, come last. The numbers of the codes cannot serve: the ABI fixes them.
std::int64_t severity(Code code) {
  switch (code) {
    case Code::ok:
      return 0;
    case Code::stopped:
      return 5;
    case Code::not_built:
      return 10;
    case Code::invalid_argument:
      return 20;
    case Code::unknown_hint:
      return 30;
    case Code::out_of_range:
      return 40;
    case Code::wrong_mode:
      return 50;
    case Code::already_exists:
      return 60;
    case Code::not_found:
      return 70;
    case Code::no_permission:
      return 80;
    case Code::unsafe:
      return 90;
    case Code::not_closed:
      return 100;
    case Code::unsupported_version:
      return 110;
    case Code::no_memory:
      return 120;
    case Code::no_space:
      return 130;
    case Code::io_error:
      return 140;
    case Code::corrupt_file:
      return 150;
    case Code::internal:
      return 160;
  }
  return 160;
}

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
  if (!names_a_task(message)) message = "task " + std::to_string(from) + ": " + message;
  return Status::error(status.code(), std::move(message), status.os_errno());
}

}  // namespace

namespace {

// The reduction takes a maximum. For the smallest `value` each task sends the complement of its own.
std::int64_t as_sent(std::int64_t value, Wanted wanted) {
  return wanted == Wanted::largest ? value : INT64_MAX - value;
}

}  // namespace

Op<Agreement> agree_on(Group& group, Status mine, std::int64_t value, Wanted wanted) {
  if (group.size() == 1) {
    Agreement alone{std::move(mine), value};
    co_return alone;
  }
  std::vector<std::int64_t> vote(2);
  vote[0] = to_vote(mine, group.rank());
  vote[1] = as_sent(value, wanted);
  auto worst = co_await group.allreduce(std::move(vote), Reduction::max);
  Agreement agreed;
  agreed.status = worst.status();
  if (!agreed.status.ok()) co_return agreed;
  agreed.value = as_sent(worst.value()[1], wanted);
  if (worst.value()[0] == 0) co_return agreed;
  // Only a failure costs a second collective: the good case is one small reduction.
  const TaskRank speaker = rank_of_vote(worst.value()[0]);
  WireWriter said;
  if (group.rank() == speaker) said.put_status(mine);
  auto heard = co_await group.broadcast(said.bytes(), speaker);
  agreed.status = heard.status();
  if (agreed.status.ok()) agreed.status = from_task(WireReader(heard.value()).get_status(), speaker);
  co_return agreed;
}

Op<Status> agree(Group& group, Status mine) {
  Agreement agreed = co_await agree_on(group, std::move(mine), 0, Wanted::largest);
  co_return std::move(agreed.status);
}

Op<Status> same_on_all(Group& group, std::int64_t a, std::int64_t b, Status mine, const char* what) {
  if (group.size() == 1) co_return mine;
  std::vector<std::int64_t> bounds(5);
  bounds[0] = a;
  bounds[1] = ~a;
  bounds[2] = b;
  bounds[3] = ~b;
  bounds[4] = mine.ok() ? 0 : 1;
  const auto largest = co_await group.allreduce(std::move(bounds), Reduction::max);
  if (!largest.has_value()) co_return largest.error();
  const auto& max = largest.value();
  const bool all_well = max[4] == 0;
  const bool same = max[0] == ~max[1] && max[2] == ~max[3];
  if (all_well && same) co_return Status{};  // the reduction gave all tasks the same answer
  if (all_well) mine = Status::error(Code::invalid_argument, std::string(what) + " differ between tasks");
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
