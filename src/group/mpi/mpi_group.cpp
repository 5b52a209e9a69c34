// Makes groups of MPI ranks, with a communicator of their own or as a channel of another group. Their collectives are
// in mpi_collectives.cpp.
#include "group/mpi/mpi_group.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "group/find_place.hpp"
#include "group/mpi/mpi_collectives.hpp"
#include "group/mpi/mpi_transfers.hpp"
#include "group/mpi/mpi_turn.hpp"
#include "os/backoff.hpp"
#include "os/node_id.hpp"

namespace thalweg {

namespace {

// Errors on the copy are returned. Errors of the duplication itself go to the error handler of `comm`.
Op<Result<std::shared_ptr<const MpiCommunicator>>> copy_of(MPI_Comm comm) {
  MPI_Comm copy = MPI_COMM_NULL;
  const auto duplicate = [&](MPI_Request* request) { return MPI_Comm_idup(comm, &copy, request); };
  TW_CO_RETURN_IF_ERROR(co_await mpi_finish(duplicate, "duplication of a communicator"));
  const auto handle = [&](MPI_Request*) { return MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN); };
  TW_CO_RETURN_IF_ERROR(co_await mpi_finish(handle, "duplication of a communicator"));
  co_return std::shared_ptr<const MpiCommunicator>(std::make_shared<MpiCommunicator>(copy));
}

}  // namespace

std::unique_ptr<Group> MpiGroup::copy_on(MpiChannel channel, std::shared_ptr<const MpiCommunicator> of_channels) const {
  auto group = std::make_unique<MpiGroup>(std::move(channel), options_, std::move(of_channels));
  group->settle(place_);
  group->check_calls(check_);
  return group;
}

Op<Result<std::unique_ptr<Group>>> MpiGroup::duplicate() {
  if (Status gone = check_group(); !gone.ok()) co_return gone;
  MpiChannel copy = channel_;
  if (!is_alone()) {
    TW_CO_ASSIGN_OR_RETURN(auto duplicated, co_await copy_of(channel_.comm()));
    copy.shared = std::move(duplicated);
    copy.tag = 0;
  }
  co_return copy_on(copy, copy.shared);
}

// All ranks open the channels of a group in the same order, so they agree on the tags without a message. Tags are not
// reused, since ranks finish a channel at different times: when a communicator has no tags left, a new one replaces
// it, and the old one is freed with the last of its channels.
Op<Result<std::unique_ptr<Group>>> MpiGroup::channel() {
  if (Status gone = check_group(); !gone.ok()) co_return gone;
  if (of_channels_ == nullptr) co_return co_await duplicate();
  if (next_tag_ + MpiChannel::kTags > options_.largest_tag + 1) {
    TW_CO_ASSIGN_OR_RETURN(auto duplicated, co_await copy_of(channel_.comm()));
    of_channels_ = std::move(duplicated);
    next_tag_ = 0;
  }
  MpiChannel next = channel_;
  next.shared = of_channels_;
  next.tag = std::exchange(next_tag_, next_tag_ + MpiChannel::kTags);
  co_return copy_on(std::move(next), nullptr);
}

namespace {

Status check_thread() {
  int level = MPI_THREAD_SINGLE;
  int is_main = 0;
  MPI_Query_thread(&level);
  MPI_Is_thread_main(&is_main);
  if (level >= MPI_THREAD_SERIALIZED || is_main != 0) return {};
  return Status::error(Code::invalid_argument,
                       "MPI was initialised for use by its main thread only, and this is another one: "
                       "initialise it with MPI_THREAD_SERIALIZED or more");
}

Status check_communicator(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) return Status::error(Code::invalid_argument, "the communicator is MPI_COMM_NULL");
  const MpiTurn turn;
  int inter = 0;
  MPI_Comm_test_inter(comm, &inter);
  if (inter == 0) return {};
  return Status::error(Code::invalid_argument,
                       "an inter-communicator is no group; merge it into an intra-communicator");
}

// All ranks compare their calls when any rank enables the check.
Op<Status> check_calls_of(MpiGroup& group) {
  std::vector<std::int64_t> asked(1, asks_for_call_check() ? 1 : 0);
  const auto by_all = co_await group.allreduce(std::move(asked), Reduction::max);
  if (!by_all.has_value() || by_all.value()[0] == 0) co_return by_all.status();
  TW_CO_ASSIGN_OR_RETURN(auto meeting, co_await group.channel());
  group.check_calls(std::make_shared<CallCheck>(std::move(meeting)));
  co_return Status{};
}

// Nonblocking calls here too: ranks that outnumber the cores would otherwise spin in MPI.
Op<Result<std::unique_ptr<Group>>> make_group(MPI_Comm comm, MpiOptions options) {
  MpiChannel channel;
  const auto ask = [&](MPI_Request*) {
    const int code = MPI_Comm_rank(comm, &channel.rank);
    return code == MPI_SUCCESS ? MPI_Comm_size(comm, &channel.size) : code;
  };
  TW_CO_RETURN_IF_ERROR(co_await mpi_finish(ask, "look at a communicator"));
  const int size = channel.size;
  if (size > 1) {
    TW_CO_ASSIGN_OR_RETURN(auto own, co_await copy_of(comm));
    channel.shared = std::move(own);
  }
  auto group = std::make_unique<MpiGroup>(channel, options, channel.shared);
  TW_CO_ASSIGN_OR_RETURN(const auto place, co_await find_place(*group, -1, node_id()));
  group->settle(place);
  const auto of_a_node = static_cast<std::size_t>(size / std::max<std::int64_t>(place.nodes, 1));
  if (of_a_node > cores_of_node()) Backoff::tasks_outnumber_cores();
  if (size > 1) {
    TW_CO_RETURN_IF_ERROR(co_await check_calls_of(*group));
  }
  co_return std::unique_ptr<Group>(std::move(group));
}

}  // namespace

Result<std::unique_ptr<Group>> make_mpi_group(MPI_Comm comm, const MpiOptions& options) {
  TW_RETURN_IF_ERROR(check_mpi_runs());
  TW_RETURN_IF_ERROR(check_thread());
  TW_RETURN_IF_ERROR(mpi_begins());
  TW_RETURN_IF_ERROR(check_communicator(comm));
  return run(make_group(comm, options));
}

}  // namespace thalweg
