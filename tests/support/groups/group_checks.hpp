// Calls one collective with data that each task can compute, and checks the result.
//
// All tasks pass the same step and rules, so that each can compute the data of the others.
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
