#include "mpiio/communicator.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>

#include "mpiio/open_file.hpp"
#include "thalweg/group_mpi.h"

namespace thalweg::mpiio {

namespace {

using Kept = std::shared_ptr<Communicator>;

int forget(MPI_Comm, int, void* value, void*) {
  delete static_cast<Kept*>(value);
  return MPI_SUCCESS;
}

// A duplicate of the communicator begins without.
int copy_nothing(MPI_Comm, int, void*, void*, void*, int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}

int keyval() {
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(copy_nothing, forget, &made, nullptr);
    return made;
  }();
  return key;
}

// Equal on all ranks.
Failure check(MPI_Comm given) {
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (initialized == 0)
    return {MPI_ERR_OTHER, "MPI_File_open: MPI_Init was not called; files need it, also on communicators of a session"};
  if (given == MPI_COMM_NULL) return {MPI_ERR_COMM, "MPI_File_open: the communicator is MPI_COMM_NULL"};
  int inter = 0;
  MPI_Comm_test_inter(given, &inter);
  if (inter != 0) return {MPI_ERR_COMM, "MPI_File_open: the communicator is an intercommunicator; pass one group"};
  return {};
}

// All that have not been released, in the order in which they were made: that of collective calls.
struct Live {
  std::mutex mutex;
  std::vector<Communicator*> in_order;
};

Live& live_ones() {
  static auto* const kept = new Live;
  return *kept;
}

// MPI deletes the attributes of MPI_COMM_SELF before it ends, the last one first (MPI 4.1, 11.2.4). Programs leave files
// open, and do not free every communicator; a window must not be left.
int before_mpi_ends(MPI_Comm, int, void*, void*) {
  name_unclosed();
  Live& live = live_ones();
  std::vector<Communicator*> left;
  {
    const std::scoped_lock lock(live.mutex);
    left = live.in_order;
  }
  for (Communicator* const one : left) one->release();
  return MPI_SUCCESS;
}

}  // namespace

void watch_the_end() {
  static std::once_flag once;
  std::call_once(once, [] {
    // The library sets its own attribute with its first group: before the one below, and so it ends after that.
    tw_group* group = nullptr;
    if (tw_group_mpi(MPI_COMM_SELF, &group) == TW_OK) tw_group_free(&group);
    int key = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(copy_nothing, before_mpi_ends, &key, nullptr);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
    MPI_Comm_free_keyval(&key);  // released with the attribute
  });
}

namespace {

std::atomic<bool> several_threads = false;

Kept make(MPI_Comm given, Failure& failure) {
  watch_the_end();
  auto made = std::make_shared<Communicator>();
  MPI_Comm_dup(given, &made->ranks);
  MPI_Comm_rank(made->ranks, &made->rank);
  MPI_Comm_size(made->ranks, &made->size);
  int wanted[2] = {is_report_wanted() ? 1 : 0, several_threads.load() ? 1 : 0};
  MPI_Allreduce(MPI_IN_PLACE, wanted, 2, MPI_INT, MPI_MAX, made->ranks);
  made->reports = wanted[0];
  made->threads = wanted[1];
  failure = failure_of(tw_group_mpi(made->ranks, &made->group));
  Live& live = live_ones();
  const std::scoped_lock lock(live.mutex);
  live.in_order.push_back(made.get());
  return made;
}

}  // namespace

namespace {

// The ranks, where all are on one node, else MPI_COMM_NULL. To be freed.
MPI_Comm ranks_of_one_node(MPI_Comm ranks) {
  MPI_Comm node = MPI_COMM_NULL;
  int size = 0, on_node = 0;
  MPI_Comm_split_type(ranks, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(ranks, &size);
  MPI_Comm_size(node, &on_node);
  int fewest = on_node;
  MPI_Allreduce(&on_node, &fewest, 1, MPI_INT, MPI_MIN, ranks);
  if (fewest != size) MPI_Comm_free(&node);
  return node;
}

}  // namespace

SharedNumbers::SharedNumbers(MPI_Comm ranks, int rank) : ranks_(ranks), rank_(rank) {
  MPI_Comm_size(ranks, &size_);
  constexpr int kBytes = sizeof(std::int64_t);
  const MPI_Aint bytes = rank == 0 ? MPI_Aint{kNumbers} * kBytes : 0;
  MPI_Comm node = ranks_of_one_node(ranks);
  const bool on_one_node = node != MPI_COMM_NULL;
  if (on_one_node) {
    MPI_Win_allocate_shared(bytes, kBytes, MPI_INFO_NULL, node, static_cast<void*>(&memory_), &window_);
    MPI_Aint all = 0;
    int unit = 0;
    MPI_Win_shared_query(window_, 0, &all, &unit, static_cast<void*>(&memory_));
    MPI_Comm_free(&node);
  } else {
    MPI_Win_allocate(bytes, kBytes, MPI_INFO_NULL, ranks, static_cast<void*>(&memory_), &window_);
  }
  for (int i = 0; i < kNumbers && rank == 0; ++i) memory_[i] = 0;
  if (!on_one_node) memory_ = nullptr;  // rank 0 too: its own accesses must be those of the window
  MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
  MPI_Barrier(ranks);
}

SharedNumbers::~SharedNumbers() {
  MPI_Win_unlock_all(window_);
  MPI_Win_free(&window_);
}

std::int64_t SharedNumbers::apply(int number, std::int64_t amount, MPI_Op operation) {
  std::int64_t before = 0;
  MPI_Fetch_and_op(&amount, &before, MPI_INT64_T, 0, number, operation, window_);
  MPI_Win_flush(0, window_);
  return before;
}

std::int64_t SharedNumbers::fetch_and_add(int number, std::int64_t amount) {
  return memory_ != nullptr ? at(number).fetch_add(amount) : apply(number, amount, MPI_SUM);
}

void SharedNumbers::clear(int number) {
  if (memory_ != nullptr)
    at(number).store(0);
  else
    apply(number, 0, MPI_REPLACE);
}

void SharedNumbers::await(int number, std::int64_t least) {
  for (int tries = 0; at(number).load(std::memory_order_acquire) < least; ++tries) {
    // Messages of the program to the ranks that this one waits for go on meanwhile.
    int flag = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, ranks_, &flag, MPI_STATUS_IGNORE);
    if (tries < 1000)
      ::sched_yield();
    else
      ::usleep(50);
  }
}

void SharedNumbers::await_turn(int number, std::int64_t round) {
  if (memory_ != nullptr)
    await(number, round * size_ + rank_);
  else if (rank_ > 0)
    MPI_Recv(nullptr, 0, MPI_BYTE, rank_ - 1, number, ranks_, MPI_STATUS_IGNORE);
}

void SharedNumbers::await_round(int number, std::int64_t round, tw_group* group) {
  if (memory_ != nullptr)
    await(number, (round + 1) * size_);
  else
    (void)tw_group_barrier(group);
}

void SharedNumbers::give_turn(int number, std::int64_t round) {
  if (memory_ != nullptr)
    at(number).store(round * size_ + rank_ + 1, std::memory_order_release);
  else if (rank_ < size_ - 1)
    MPI_Send(nullptr, 0, MPI_BYTE, rank_ + 1, number, ranks_);
}

int SharedNumbers::first_free() const {
  const auto* const found = std::ranges::find_if(taken_, [](const auto& taken) { return !taken; });
  return found != taken_.end() ? static_cast<int>(found - taken_.begin()) * kOfFile : -1;
}

Failure take_slot(Communicator& communicator, tw_group* group, SharedSlot& slot) {
  auto& all = communicator.numbers;
  std::int64_t place[2] = {0, 0};
  for (; place[0] < std::ssize(all); ++place[0])
    if ((place[1] = all[static_cast<std::size_t>(place[0])]->first_free()) >= 0) break;
  if (place[0] == std::ssize(all)) place[1] = 0;
  if (communicator.threads != 0)
    if (const tw_status status = tw_group_broadcast(group, place, sizeof place, 0); status != TW_OK)
      return failure_of(status);
  if (place[0] == std::ssize(all))
    all.push_back(std::make_unique<SharedNumbers>(communicator.ranks, communicator.rank));
  slot = {all[static_cast<std::size_t>(place[0])].get(), static_cast<int>(place[1])};
  slot.numbers->take(slot.first);
  return {};
}

void Communicator::release() {
  if (ranks == MPI_COMM_NULL) return;
  {
    Live& live = live_ones();
    const std::scoped_lock lock(live.mutex);
    std::erase(live.in_order, this);
  }
  numbers.clear();
  tw_group_free(&group);
  MPI_Comm_free(&ranks);
}

void threads_may_call() { several_threads = true; }

Kept communicator_of(MPI_Comm given, Failure& failure) {
  failure = check(given);
  if (!failure.none()) return nullptr;
  void* value = nullptr;
  int found = 0;
  MPI_Comm_get_attr(given, keyval(), static_cast<void*>(&value), &found);
  if (found != 0) return *static_cast<Kept*>(value);
  Kept made = make(given, failure);
  if (!failure.none()) return nullptr;
  MPI_Comm_set_attr(given, keyval(), new Kept(made));
  return made;
}

}  // namespace thalweg::mpiio
