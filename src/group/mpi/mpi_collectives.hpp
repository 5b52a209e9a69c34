// MpiCollectives: the collectives of an MPI group. Whoever derives from it owns the communicator; one rank needs none.
#pragma once

#include <mpi.h>

#include <vector>

#include "group/basic_group.hpp"
#include "group/mpi/mpi_group.hpp"

namespace thalweg {

// Whether MPI can be called: it has begun, and not ended.
Status check_mpi_runs();

class MpiCollectives : public BasicGroup {
 public:
  MpiCollectives(MPI_Comm comm, const MpiOptions& options, TaskRank rank, TaskRank size)
      : comm_(comm), options_(options), rank_(rank), size_(size) {}

  TaskRank rank() const noexcept final { return rank_; }
  TaskRank size() const noexcept final { return size_; }

  Op<Status> barrier() final;
  Op<Result<Bytes>> broadcast(ByteView data, TaskRank root) final;
  Op<Result<Gathered>> gather(ByteView data, TaskRank root) final;
  Op<Result<Bytes>> scatter(const Gathered& parts, TaskRank root) final;
  Op<Result<std::vector<std::int64_t>>> allreduce(std::vector<std::int64_t> mine, Reduction how) final;
  Op<Status> fold(void* mine, void* before, Folding how) final;
  Op<Result<std::vector<Message>>> exchange(std::vector<Message> outgoing) final;
  void leave(Leaver leaver) noexcept final;

 protected:
  bool is_alone() const { return size_ == 1; }
  // Whether the group can be used still.
  Status check_group();
  MPI_Comm comm() const { return comm_; }  // null: one rank alone, or the task has left
  const MpiOptions& options() const { return options_; }

 private:
  bool is(TaskRank root) const { return rank() == root; }
  Op<Status> send_to_all(Bytes& data, TaskRank root);
  Op<Status> everybody_has(std::int64_t mine, const char* collective);

  MPI_Comm comm_;
  const MpiOptions options_;
  const TaskRank rank_;
  const TaskRank size_;
};

}  // namespace thalweg
