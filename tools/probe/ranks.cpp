#include "ranks.hpp"

#include <dlfcn.h>
#include <sched.h>
#include <thalweg/group_mpi.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include "posix_file.hpp"

namespace probe {

namespace {

// Short sleeps first: most waits are short.
void wait_asleep(MPI_Request& request) {
  using std::chrono::microseconds;
  for (microseconds pause(20);; pause = std::min(pause * 2, microseconds(1000))) {
    int done = 0;
    must_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done != 0) return;
    std::this_thread::sleep_for(pause);
  }
}

// Cores that any rank of the communicator may run on: a bound rank has its own only.
int cores_of(MPI_Comm node) {
  cpu_set_t mine, all;
  if (::sched_getaffinity(0, sizeof mine, &mine) != 0) CPU_ZERO(&mine);
  must_mpi(MPI_Allreduce(&mine, &all, sizeof mine, MPI_BYTE, MPI_BOR, node), "MPI_Allreduce");
  return std::max(1, CPU_COUNT(&all));
}

// Collective, on all ranks.
Part part_of(bool is_in) {
  Part part;
  must_mpi(MPI_Comm_split(MPI_COMM_WORLD, is_in ? 0 : MPI_UNDEFINED, 0, &part.comm), "MPI_Comm_split");
  if (part.comm == MPI_COMM_NULL) return part;
  MPI_Comm_set_errhandler(part.comm, MPI_ERRORS_RETURN);
  part.group = thalweg::Group::make(tw_group_mpi, part.comm);
  return part;
}

std::atomic<bool> waiting_yields = false;

}  // namespace

// An MPICH that waits on UCX spins, and before 4.2 it has no setting to yield. A rank that spins through its time
// slices distorts the measurement, so this program defines UCX's progress function, which the dynamic linker uses in
// place of UCX's. Open MPI yields by itself when it detects too few cores.
extern "C" __attribute__((visibility("default"))) unsigned ucp_worker_progress(void* worker) {
  static auto* const real = reinterpret_cast<unsigned (*)(void*)>(dlsym(RTLD_NEXT, "ucp_worker_progress"));
  const unsigned events = real(worker);
  if (events == 0 && waiting_yields.load(std::memory_order_relaxed)) sched_yield();
  return events;
}

Ranks::Ranks() : all_(part_of(true)) {
  MPI_Comm_rank(all_.comm, &rank_);
  MPI_Comm_size(all_.comm, &size_);
  MPI_Comm node = MPI_COMM_NULL;
  must_mpi(MPI_Comm_split_type(all_.comm, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node), "MPI_Comm_split_type");
  int on_this_node = 1;
  MPI_Comm_rank(node, &node_rank_);
  MPI_Comm_size(node, &on_this_node);
  waiting_yields = yields_ = on_this_node > cores_of(node);
  MPI_Comm_free(&node);
  const int is_first = first_of_node() ? 1 : 0;
  must_mpi(MPI_Allreduce(&is_first, &nodes_, 1, MPI_INT, MPI_SUM, all_.comm), "MPI_Allreduce");
  half_ = part_of(rank_ < half_size());
  one_ = part_of(first());
}

Ranks::~Ranks() {
  for (Part* const part : {&one_, &half_, &all_}) {
    part->group.reset();
    if (part->comm != MPI_COMM_NULL) MPI_Comm_free(&part->comm);
  }
}

void Ranks::meet() const {
  MPI_Request request = MPI_REQUEST_NULL;
  must_mpi(MPI_Ibarrier(all_.comm, &request), "MPI_Ibarrier");
  wait_asleep(request);
}

void Ranks::start_together() const {
  meet();
  must_mpi(MPI_Barrier(all_.comm), "MPI_Barrier");
}

double Ranks::most(double value) const {
  double out = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  must_mpi(MPI_Iallreduce(&value, &out, 1, MPI_DOUBLE, MPI_MAX, all_.comm, &request), "MPI_Iallreduce");
  wait_asleep(request);
  return out;
}

void must_mpi(int code, const std::string& what) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  std::string line(text.data(), static_cast<std::size_t>(length));
  std::ranges::replace(line, '\n', ' ');
  throw Failed(what + ": " + line);
}

std::string mpi_name() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  std::string name(text.data());
  name.resize(std::min(name.size(), name.find_first_of("\n,")));
  std::ranges::replace(name, '\t', ' ');
  return name;
}

}  // namespace probe
