// group.h: groups and teams that need no MPI.
#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "capi/handles.hpp"
#include "group/agree.hpp"
#include "group/groups.hpp"
#include "thalweg/group.h"

namespace thalweg {
namespace {

// Passes a group to the caller, or returns the failure.
Status give(Result<std::unique_ptr<Group>> made, tw_group** group) {
  if (!made.has_value()) return made.error();
  *group = new tw_group{std::move(made).value()};
  return {};
}

Status check(const tw_transport* given) {
  constexpr const char* kCall = "tw_group_callbacks";
  if (given == nullptr) return null_argument(kCall, "transport");
  if (given->struct_size < sizeof(tw_transport))
    return invalid_argument(kCall, "struct_size is {}, needed is {}", given->struct_size, sizeof(tw_transport));
  if (given->send_receive == nullptr) return invalid_argument(kCall, "send_receive is NULL");
  if ((given->start_largest == nullptr) != (given->finish_largest == nullptr))
    return invalid_argument(kCall, "start_largest and finish_largest are needed both, or neither");
  if (given->start_largest != nullptr && given->duplicate == nullptr)
    return invalid_argument(kCall, "start_largest needs duplicate, as no two files may share it");
  if (given->size >= 1 && given->rank >= 0 && given->rank < given->size) return {};
  return invalid_argument(kCall, "rank {} is not in 0..{}", given->rank, given->size - 1);
}

// Reports wrong arguments of a task before the collective that needs them.
Op<Status> check_equal(Group& group, const char* differ, std::int64_t a, std::int64_t b) {
  std::vector<std::int64_t> bounds{a, -a, b, -b};
  TW_CO_ASSIGN_OR_RETURN(const auto max, co_await group.allreduce(std::move(bounds), Reduction::max));
  if (max[0] == -max[1] && max[2] == -max[3]) co_return Status{};
  co_return Status::error(Code::invalid_argument, "{} differ between tasks", differ);
}

Op<Status> broadcast_into(Group& group, std::span<std::byte> data, TaskRank root) {
  TW_CO_RETURN_IF_ERROR(co_await check_equal(group, "tw_group_broadcast: nbytes or root", std::ssize(data), root));
  TW_CO_ASSIGN_OR_RETURN(const auto copy, co_await group.broadcast(data, root));
  if (group.rank() != root) std::copy(copy.begin(), copy.end(), data.begin());
  co_return Status{};
}

Op<Status> allreduce_into(Group& group, std::span<std::int64_t> values, tw_reduction how) {
  TW_CO_RETURN_IF_ERROR(co_await check_equal(group, "tw_group_allreduce: n or how", std::ssize(values), how));
  if (how < TW_MIN || how > TW_BIT_OR) co_return invalid_argument("tw_group_allreduce", "{} is no reduction", how);
  constexpr Reduction kReductions[] = {Reduction::min, Reduction::max, Reduction::sum, Reduction::bit_or};
  constexpr std::size_t kBlock = 4096;  // so that no task needs memory for all of a large array
  for (; !values.empty(); values = values.subspan(std::min(kBlock, values.size()))) {
    const auto block = values.first(std::min(kBlock, values.size()));
    std::vector<std::int64_t> mine(block.begin(), block.end());
    TW_CO_ASSIGN_OR_RETURN(const auto result, co_await group.allreduce(std::move(mine), kReductions[how]));
    std::copy(result.begin(), result.end(), block.begin());
  }
  co_return Status{};
}

Status check_hybrid(const Group& threads, const tw_group* ranks, tw_group** group) {
  if (group == nullptr) return null_argument("tw_group_hybrid", "group");
  if (threads.rank() == 0 && ranks == nullptr) return null_argument("tw_group_hybrid", "ranks");
  if (threads.place().processes == 1 && threads.place().process_leader == 0) return {};
  return invalid_argument("tw_group_hybrid", "threads is of kind '{}' and spans processes; a team is needed",
                          threads.kind());
}

// The status of thread 0 on all threads of its process, as it is: agree() would put another "task 0" before it.
Op<Status> of_leader(Group& threads, Status status) {
  std::function<std::shared_ptr<void>()> make = [&status] {
    return std::shared_ptr<void>(std::make_shared<Status>(status));
  };
  TW_CO_ASSIGN_OR_RETURN(auto shared, co_await threads.share_in_process(std::move(make)));
  co_return *static_cast<Status*>(shared.get());
}

Op<Status> hybrid(Group& threads, tw_group* ranks, tw_group** group) {
  // First within the process, then between processes, then back: all threads of all ranks leave, or none.
  Status status = co_await agree(threads, check_hybrid(threads, ranks, group));
  const bool leads = threads.rank() == 0;
  if (leads && ranks != nullptr) status = co_await agree(*ranks->impl, std::move(status));
  TW_CO_RETURN_IF_ERROR(co_await of_leader(threads, std::move(status)));
  auto my_threads = co_await threads.duplicate();
  std::unique_ptr<Group> my_ranks;
  status = my_threads.status();
  if (leads) {
    status = co_await agree(*ranks->impl, std::move(status));
    if (status.ok()) {
      auto copied = co_await ranks->impl->duplicate();
      status = copied.status();
      if (status.ok()) my_ranks = std::move(copied).value();
    }
  }
  TW_CO_RETURN_IF_ERROR(co_await of_leader(threads, std::move(status)));
  co_return give(co_await make_hybrid_group(std::move(my_threads).value(), std::move(my_ranks)), group);
}

}  // namespace
}  // namespace thalweg

using namespace thalweg;

extern "C" {

tw_status tw_group_self(tw_group** group) {
  return guarded([&]() -> Status {
    if (group == nullptr) return null_argument("tw_group_self", "group");
    return give(make_self_group(), group);
  });
}

tw_status tw_team_create(int64_t tasks, tw_team** team) {
  return guarded([&]() -> Status {
    if (team == nullptr) return null_argument("tw_team_create", "team");
    TW_ASSIGN_OR_RETURN(std::shared_ptr<Team> made, make_team(tasks));
    *team = new tw_team{std::move(made)};
    return {};
  });
}

void tw_team_free(tw_team** team) { free_handle(team); }

tw_status tw_group_team(tw_team* team, int64_t rank, tw_group** group) {
  return guarded([&]() -> Status {
    if (team == nullptr) return null_argument("tw_group_team", "team");
    if (group == nullptr) return null_argument("tw_group_team", "group");
    return give(make_team_group(team->impl, rank), group);
  });
}

tw_status tw_group_hybrid(tw_group* threads, tw_group* ranks, tw_group** group) {
  return guarded([&]() -> Status {
    if (threads == nullptr) {
      Status why = null_argument("tw_group_hybrid", "threads");
      if (ranks == nullptr) return why;
      (void)starting(*ranks->impl, Call::tw_group_hybrid);
      return run(
          agree(*ranks->impl, std::move(why)));  // fails the other processes, which wait for thread 0 of this one
    }
    return run(hybrid(calling(*threads->impl, Call::tw_group_hybrid), ranks, group));
  });
}

tw_status tw_group_callbacks(const tw_transport* transport, tw_group** group) {
  return guarded([&]() -> Status {
    TW_RETURN_IF_ERROR(check(transport));
    if (group == nullptr) return null_argument("tw_group_callbacks", "group");
    call_of_thread = {Call::tw_group_callbacks, transport->size > 1};
    return give(run(make_callback_group(*transport)), group);
  });
}

tw_status tw_group_duplicate(tw_group* group, tw_group** copy) {
  return on_group(group, Call::tw_group_duplicate, [&](Group& tasks) -> Status {
    auto made = run(tasks.duplicate());
    if (!made.has_value()) return made.error();
    TW_RETURN_IF_ERROR(run(agree(tasks, copy != nullptr ? Status{} : null_argument("tw_group_duplicate", "copy"))));
    return give(std::move(made), copy);
  });
}

void tw_group_free(tw_group** group) { free_handle(group); }

int64_t tw_group_rank(const tw_group* group) { return group != nullptr ? group->impl->rank() : -1; }
int64_t tw_group_size(const tw_group* group) { return group != nullptr ? group->impl->size() : -1; }
const char* tw_group_kind(const tw_group* group) { return group != nullptr ? group->impl->kind() : ""; }

tw_status tw_group_barrier(tw_group* group) {
  return on_group(group, Call::tw_group_barrier, [](Group& tasks) { return run(tasks.barrier()); });
}

tw_status tw_group_broadcast(tw_group* group, void* data, size_t nbytes, int64_t root) {
  return on_group(group, Call::tw_group_broadcast, [&](Group& tasks) -> Status {
    const bool missing = data == nullptr && nbytes > 0;
    TW_RETURN_IF_ERROR(run(agree(tasks, missing ? null_argument("tw_group_broadcast", "data") : Status{})));
    return run(broadcast_into(tasks, {static_cast<std::byte*>(data), nbytes}, root));
  });
}

tw_status tw_group_allreduce(tw_group* group, int64_t* values, int64_t n, tw_reduction how) {
  return on_group(group, Call::tw_group_allreduce, [&](Group& tasks) -> Status {
    Status mine = check_number("tw_group_allreduce", "n", n);
    if (values == nullptr && n > 0) mine = null_argument("tw_group_allreduce", "values");
    TW_RETURN_IF_ERROR(run(agree(tasks, std::move(mine))));
    return run(allreduce_into(tasks, {values, static_cast<std::size_t>(n)}, how));
  });
}

tw_status tw_group_agree(tw_group* group, tw_status mine, int os_errno, const char* message) {
  return on_group(group, Call::tw_group_agree, [&](Group& tasks) {
    return run(agree(tasks, or_out_of_memory([&] { return given_status(mine, os_errno, message); })));
  });
}

}  // extern "C"
