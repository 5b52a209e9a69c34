// One call of a collective, with data that each task can foretell, and what must come of it.
//
// The same step and rules on every task: each knows what the others do.
#pragma once

#include "group/group.hpp"

namespace thalweg::test {

Op<Status> check_broadcast(Group& group, TaskRank root, std::uint64_t step, std::size_t length);
Op<Status> check_gather(Group& group, TaskRank root, std::uint64_t step, std::size_t longest);
Op<Status> check_scatter(Group& group, TaskRank root, std::uint64_t step, std::size_t longest);
Op<Status> check_allgather(Group& group, std::uint64_t step, std::size_t longest);
Op<Status> check_allreduce(Group& group, std::uint64_t step, std::size_t length, Reduction how);
Op<Status> check_exchange(Group& group, std::uint64_t step, std::size_t longest);

}  // namespace thalweg::test
