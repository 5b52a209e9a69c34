// MPI: the ranks of a communicator of our own, a duplicate of the caller's. What they do is in mpi_collectives.cpp.
#include "group/mpi/mpi_group.hpp"

#include <algorithm>
#include <utility>

#include "async/frame_memory.hpp"
#include "group/find_place.hpp"
#include "group/mpi/mpi_collectives.hpp"
#include "group/mpi/mpi_end.hpp"
#include "group/mpi/mpi_transfers.hpp"
#include "group/mpi/mpi_turn.hpp"
#include "os/backoff.hpp"
#include "os/node_id.hpp"

namespace thalweg {

namespace {

class MpiGroup final : public MpiCollectives {
 public:
  // `comm` becomes the group's; one rank has none.
  MpiGroup(MPI_Comm comm, const MpiOptions& options, TaskRank rank, TaskRank size)
      : MpiCollectives(comm, options, rank, size) {}
  // After MPI_Finalize there is nothing to free any more.
  ~MpiGroup() override {
    if (comm() == MPI_COMM_NULL || mpi_ended()) return;
    const MpiTurn turn(MpiTurn::Wait{});
    MPI_Comm own = comm();
    MPI_Comm_free(&own);
  }
  MpiGroup(const MpiGroup&) = delete;
  MpiGroup& operator=(const MpiGroup&) = delete;
  // As frames: the others count on this task's group.
  static void* operator new(std::size_t bytes) { return take_frame_memory(bytes); }
  static void operator delete(void* memory) noexcept { free_frame_memory(memory); }
  // Once, before the group is given to anybody.
  void settle(const Place& place) { place_ = place; }

  Place place() const noexcept override { return place_; }
  const char* kind() const noexcept override { return "mpi"; }
  bool any_thread() const noexcept override { return mpi_from_any_thread(); }
  Op<Result<std::unique_ptr<Group>>> duplicate() override;

 private:
  Place place_;
};

// Errors on it come back to us. Those of the duplication itself go where the program sends those of `comm`.
Op<Status> copy_of(MPI_Comm comm, MPI_Comm& copy) {
  auto duplicate = [&](MPI_Request* request) { return MPI_Comm_idup(comm, &copy, request); };
  const Status status = co_await mpi_finish(duplicate, "duplication of a communicator");
  if (!status.ok()) co_return status;
  auto handle = [&](MPI_Request*) { return MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN); };
  co_return co_await mpi_finish(handle, "duplication of a communicator");
}

Op<Result<std::unique_ptr<Group>>> MpiGroup::duplicate() {
  if (Status gone = check_group(); !gone.ok()) co_return gone;
  MPI_Comm copy = MPI_COMM_NULL;
  if (!is_alone()) {
    const Status status = co_await copy_of(comm(), copy);
    if (!status.ok()) co_return status;
  }
  auto group = std::make_unique<MpiGroup>(copy, options(), rank(), size());
  group->settle(place_);
  co_return std::unique_ptr<Group>(std::move(group));
}

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
  const MpiTurn turn(MpiTurn::Wait{});
  int inter = 0;
  MPI_Comm_test_inter(comm, &inter);
  if (inter == 0) return {};
  return Status::error(Code::invalid_argument,
                       "an inter-communicator is no group; merge it into an intra-communicator");
}

// Nonblocking calls here too: ranks that outnumber the cores would otherwise spin in MPI.
Op<Result<std::unique_ptr<Group>>> make_group(MPI_Comm comm, MpiOptions options) {
  int rank = 0;
  int size = 0;
  auto ask = [&](MPI_Request*) {
    const int code = MPI_Comm_rank(comm, &rank);
    return code == MPI_SUCCESS ? MPI_Comm_size(comm, &size) : code;
  };
  Status status = co_await mpi_finish(ask, "look at a communicator");
  if (!status.ok()) co_return status;
  MPI_Comm own = MPI_COMM_NULL;
  if (size > 1) status = co_await copy_of(comm, own);
  if (!status.ok()) co_return status;
  auto group = std::make_unique<MpiGroup>(own, options, rank, size);
  const auto place = co_await find_place(*group, -1, node_id());
  if (!place.has_value()) co_return place.error();
  group->settle(place.value());
  const auto of_a_node = static_cast<std::size_t>(size / std::max<std::int64_t>(place.value().nodes, 1));
  if (of_a_node > cores_of_node()) Backoff::tasks_outnumber_cores();
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
