#include "ranks.hpp"

#include <sched.h>
#include <time.h>

#include <algorithm>

#include "method.hpp"

namespace probe {

namespace {

// Short sleeps first: most waits are short.
void wait_asleep(MPI_Request& request) {
  constexpr long kShortest = 20'000;
  constexpr long kLongest = 1'000'000;
  long pause = kShortest;
  for (;;) {
    int done = 0;
    must_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done != 0) return;
    const timespec time{0, pause};
    ::nanosleep(&time, nullptr);
    pause = std::min(kLongest, pause * 2);
  }
}

template <class T>
T reduced(MPI_Comm comm, T value, MPI_Datatype type, MPI_Op operation) {
  T out{};
  MPI_Request request = MPI_REQUEST_NULL;
  must_mpi(MPI_Iallreduce(&value, &out, 1, type, operation, comm, &request), "MPI_Iallreduce");
  wait_asleep(request);
  return out;
}

void broadcast(MPI_Comm comm, void* bytes, int n) {
  MPI_Request request = MPI_REQUEST_NULL;
  must_mpi(MPI_Ibcast(bytes, n, MPI_BYTE, 0, comm, &request), "MPI_Ibcast");
  wait_asleep(request);
}

// Cores that any rank of the communicator may run on.
int cores_of(MPI_Comm node) {
  cpu_set_t mine;
  cpu_set_t all;
  CPU_ZERO(&mine);
  if (::sched_getaffinity(0, sizeof mine, &mine) != 0) CPU_ZERO(&mine);
  must_mpi(MPI_Allreduce(&mine, &all, sizeof mine, MPI_BYTE, MPI_BOR, node), "MPI_Allreduce");
  return std::max(1, CPU_COUNT(&all));
}

}  // namespace

Ranks::Ranks() {
  must_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &all_), "MPI_Comm_dup");
  MPI_Comm_set_errhandler(all_, MPI_ERRORS_RETURN);
  MPI_Comm_rank(all_, &rank_);
  MPI_Comm_size(all_, &size_);
  MPI_Comm node = MPI_COMM_NULL;
  must_mpi(MPI_Comm_split_type(all_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node), "MPI_Comm_split_type");
  MPI_Comm_rank(node, &node_rank_);
  MPI_Comm_size(node, &node_size_);
  node_cores_ = cores_of(node);
  MPI_Comm_free(&node);
  nodes_ = static_cast<int>(sum(node_rank_ == 0 ? 1 : 0));
  must_mpi(MPI_Comm_split(all_, rank_ < half_size() ? 0 : MPI_UNDEFINED, rank_, &half_), "MPI_Comm_split");
  if (half_ != MPI_COMM_NULL) MPI_Comm_set_errhandler(half_, MPI_ERRORS_RETURN);
}

Ranks::~Ranks() {
  if (half_ != MPI_COMM_NULL) MPI_Comm_free(&half_);
  MPI_Comm_free(&all_);
}

void Ranks::meet() const {
  MPI_Request request = MPI_REQUEST_NULL;
  must_mpi(MPI_Ibarrier(all_, &request), "MPI_Ibarrier");
  wait_asleep(request);
}

void Ranks::start_together() const {
  meet();
  must_mpi(MPI_Barrier(all_), "MPI_Barrier");
}

double Ranks::most(double value) const { return reduced(all_, value, MPI_DOUBLE, MPI_MAX); }
std::int64_t Ranks::most(std::int64_t value) const { return reduced(all_, value, MPI_INT64_T, MPI_MAX); }
std::int64_t Ranks::sum(std::int64_t value) const { return reduced(all_, value, MPI_INT64_T, MPI_SUM); }

std::string Ranks::told(const std::string& text) const {
  auto length = static_cast<int>(text.size());
  broadcast(all_, &length, sizeof length);
  std::string out = first() ? text : std::string(static_cast<std::size_t>(length), '\0');
  broadcast(all_, out.data(), length);
  return out;
}

}  // namespace probe
