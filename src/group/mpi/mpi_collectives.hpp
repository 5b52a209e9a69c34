// MpiGroup: ranks of MPI. Its collectives are trees of point-to-point messages on a channel (mpi_channel.hpp);
// mpi_group.cpp makes such groups. A rank alone makes no MPI call.
#pragma once

#include <mpi.h>

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "group/basic_group.hpp"
#include "group/call_check.hpp"
#include "group/mpi/mpi_channel.hpp"
#include "group/mpi/mpi_group.hpp"
#include "group/mpi/mpi_turn.hpp"

namespace thalweg {

// OK between MPI_Init and MPI_Finalize.
Status check_mpi_runs();

class MpiGroup final : public BasicGroup {
 public:
  // `of_channels`: the communicator of its channels; null for a group that is a channel itself.
  MpiGroup(MpiChannel channel, const MpiOptions& options, std::shared_ptr<const MpiCommunicator> of_channels)
      : channel_(std::move(channel)), options_(options), of_channels_(std::move(of_channels)) {}

  TaskRank rank() const noexcept override { return channel_.rank; }
  TaskRank size() const noexcept override { return channel_.size; }
  Place place() const noexcept override { return place_; }
  const char* kind() const noexcept override { return "mpi"; }
  bool any_thread() const noexcept override { return mpi_from_any_thread(); }

  Op<Status> barrier() override;
  Op<Result<Bytes>> broadcast(ByteView data, TaskRank root) override;
  Op<Result<Gathered>> gather(ByteView data, TaskRank root) override;
  Op<Result<Bytes>> scatter(const Gathered& parts, TaskRank root) override;
  Op<Result<std::vector<std::int64_t>>> allreduce(std::vector<std::int64_t> mine, Reduction how) override;
  Op<Status> fold(void* mine, void* before, Folding how) override;
  Op<Result<std::vector<Message>>> exchange(std::vector<Message> outgoing) override;
  void leave(Leaver leaver) noexcept override;
  // Duplicates the communicator; no other duplication of it may be in progress.
  Op<Result<std::unique_ptr<Group>>> duplicate() override;
  Op<Result<std::unique_ptr<Group>>> channel() override;
  bool checks_calls() const noexcept override { return check_ != nullptr; }
  Op<Status> compare_calls(Call call) override { return check_->compare(call, handle_); }

  // Both once, before first use of the group. Its calls, and those of its copies, are compared from now on; null: they
  // are not.
  void check_calls(std::shared_ptr<CallCheck> check) {
    check_ = std::move(check);
    if (check_ != nullptr) handle_ = check_->next_handle();
  }
  void settle(const Place& place) { place_ = place; }

 private:
  std::unique_ptr<Group> copy_on(MpiChannel channel, std::shared_ptr<const MpiCommunicator> of_channels) const;
  bool is_alone() const { return channel_.size == 1; }
  bool is(TaskRank root) const { return rank() == root; }
  // Whether the group is still usable.
  Status check_group();
  // Agrees whether each task can continue (0, or a negative reason).
  Op<Status> everybody_has(std::int64_t mine, const char* collective);
  Op<Status> reduce(std::span<std::int64_t> numbers, Reduction how, const char* collective);
  Op<Status> send_down(std::span<std::byte> data, TaskRank root, const char* collective);

  MpiChannel channel_;
  const MpiOptions options_;
  Place place_;
  std::shared_ptr<const MpiCommunicator> of_channels_;
  int next_tag_ = MpiChannel::kTags;
  std::shared_ptr<CallCheck> check_;  // null: calls are not compared
  std::int64_t handle_ = 0;           // number of this group among those whose calls are compared
};

}  // namespace thalweg
