// Group: the tasks that take part. It has a size, the rank and place of this task, and the collectives.
//
// Every collective is called by all tasks of the group in the same order with matching arguments. A failure (memory,
// a broken transport) is returned as one Status on every task. A group does no file I/O.
//
// Tasks that make different calls at once: where that can be detected, all of them fail, and the group ends (end()).
//
// Kinds: self, team (threads of one process), mpi, hybrid (all threads of all ranks), callbacks, sim.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "async/op.hpp"
#include "async/request.hpp"
#include "base/call.hpp"
#include "base/status.hpp"
#include "base/wire.hpp"
#include "group/team/roster.hpp"

namespace thalweg {

using TaskRank = std::int64_t;

// Parts of all tasks, in rank order: part i is data[begin[i] .. begin[i+1]).
struct Gathered {
  Bytes data;
  std::vector<std::uint64_t> begin;  // size() + 1 entries; empty on tasks that receive nothing
  std::size_t parts() const { return begin.empty() ? 0 : begin.size() - 1; }
  ByteView part(std::size_t i) const { return ByteView(data).subspan(begin[i], begin[i + 1] - begin[i]); }
};

struct Message {
  TaskRank peer;  // destination when given, source when received
  Bytes data;
};

enum class Reduction { min, max, sum, bit_or };

// Joins records of at most kMost bytes: join(left, right) stores the result into `left`, which comes from lower
// ranks. It is associative and cannot fail. The bytes of a record have one meaning in all processes.
struct Folding {
  static constexpr std::size_t kMost = 512;
  // For a record in the frame of a coroutine, where GCC 12 ignores `alignas` of a variable.
  struct alignas(std::max_align_t) Room {
    std::byte bytes[kMost];
  };
  std::size_t bytes;
  void (*join)(void* left, const void* right);
};

// The Folding of records of a type with join(next), where `next` comes from higher ranks.
template <class Joined>
constexpr Folding folding_of() {
  static_assert(sizeof(Joined) <= Folding::kMost && std::is_trivially_copyable_v<Joined>);
  return {sizeof(Joined),
          [](void* left, const void* right) { static_cast<Joined*>(left)->join(*static_cast<const Joined*>(right)); }};
}

// The place of a task. Tasks of one process share memory and file descriptors.
struct Place {
  std::int64_t process = 0;    // number of this task's process within the group, 0-based, dense
  std::int64_t processes = 1;  // how many processes the group spans
  std::int64_t node = 0;       // number of this task's node within the group, 0-based, dense
  std::int64_t nodes = 1;
  TaskRank process_leader = 0;  // lowest rank in this task's process
  std::int64_t tasks_in_process = 1;
  TaskRank node_leader = 0;  // lowest rank on this task's node
};

class Group {
 public:
  virtual ~Group() = default;
  virtual TaskRank rank() const noexcept = 0;
  virtual TaskRank size() const noexcept = 0;
  virtual Place place() const noexcept = 0;
  virtual const char* kind() const noexcept = 0;  // "self", "team", "mpi", "hybrid", "callbacks", "sim"
  // Whether another thread may advance this task's collectives while the task's own thread makes other calls.
  virtual bool any_thread() const noexcept { return true; }
  // Whether messages of an exchange pass through other tasks, and collectives block the calling thread in a function of
  // the user. Suits a few words, not data. Equal on all tasks.
  virtual bool relays() const noexcept { return false; }
  // Which threads may advance nonblocking operations of the group.
  Advancers advancers() const noexcept {
    if (relays()) return Advancers::starter;
    return any_thread() ? Advancers::any : Advancers::transport;
  }
  // With THALWEG_CHECK=1, between ranks: compares the calls of all ranks before one is made on this handle
  // (group/call_check.hpp). Collective. Costs nothing where the check is off.
  virtual bool checks_calls() const noexcept { return false; }
  virtual Op<Status> compare_calls(Call /*call*/) { co_return Status{}; }
  // Whether a collective always suspends before it completes, so that completions cannot pile up on the stack.
  virtual bool always_suspends() const noexcept { return false; }

  // All are collective. `data` given by reference stays alive until the Op is done.
  virtual Op<Status> barrier() = 0;
  // The root's bytes reach every task (the root's own included).
  virtual Op<Result<Bytes>> broadcast(ByteView data, TaskRank root) = 0;
  // The bytes of all tasks reach the root; lengths may differ and may be 0. Elsewhere the result has no parts.
  virtual Op<Result<Gathered>> gather(ByteView data, TaskRank root) = 0;
  // On the root, part i goes to task i; elsewhere `parts` is ignored.
  virtual Op<Result<Bytes>> scatter(const Gathered& parts, TaskRank root) = 0;
  virtual Op<Result<Gathered>> allgather(ByteView data) = 0;
  // Element-wise over equally long vectors.
  virtual Op<Result<std::vector<std::int64_t>>> allreduce(std::vector<std::int64_t> mine, Reduction how) = 0;
  // Joins the records of all tasks in rank order: `mine` becomes the record of all tasks, `before` that of the tasks
  // of lower rank (unchanged on task 0). Memory and number of messages of a task grow no faster than the logarithm of
  // the number of tasks. Both belong to the caller and stay until the Op is done.
  virtual Op<Status> fold(void* mine, void* before, Folding how) = 0;
  // Sparse all-to-all: each task names its few partners. Received messages come sorted by source.
  virtual Op<Result<std::vector<Message>>> exchange(std::vector<Message> outgoing) = 0;
  // One object per process: made by `make` on the process leader, the same pointer on all tasks of the process.
  // `make` must not throw; it may return null, and then all tasks of that process get null.
  virtual Op<Result<std::shared_ptr<void>>> share_in_process(std::function<std::shared_ptr<void>()> make) = 0;
  // An independent group of the same tasks with the same ranks (as MPI_Comm_dup): collectives on the copy do not mix
  // with those on the original. Collective.
  virtual Op<Result<std::unique_ptr<Group>>> duplicate() = 0;
  // A duplicate() for an open file; a group has many, so a kind may share its resources among them. While collectives
  // of the group or its channels are under way, the result must not be duplicated or give channels.
  virtual Op<Result<std::unique_ptr<Group>>> channel() { return duplicate(); }

  // Independent: sets the call of the library that the calling thread makes on the group, for this task.
  void set_call(Call call) noexcept {
    call_ = call;
    if (roster_ != nullptr) roster_->note_thread(task_);
  }
  // Independent: sets the call and the collective of an outer group that this one serves, and the outer rank of this
  // group's task 0.
  void serve(Call call, Primitive outer, TaskRank first_rank) noexcept {
    call_ = call;
    outer_ = outer;
    first_rank_ = first_rank;
  }
  Call call() const noexcept { return call_; }
  Primitive outer() const noexcept { return outer_; }
  TaskRank first_rank() const noexcept { return first_rank_; }

  // Independent: every later collective of this handle fails at once with `why`, without waiting. The first reason
  // stays when there are several. Called when tasks find that their calls differ or that one of them has left.
  virtual void end(Status why, Leaver leaver = {}) noexcept {
    if (!ended_.ok()) return;
    ended_ = std::move(why);
    leaver_ = leaver;
  }
  const Status& ended() noexcept {
    if (roster_ != nullptr && roster_->is_over() && ended_.ok() && !goes_on_by_itself()) ended_ = roster_->later();
    return ended_;
  }
  const Leaver& leaver() const noexcept { return leaver_; }

  // Independent, does not wait: takes the place of this task's part in the next collective of the others, which is a
  // fold. The fold reports the leaver, and this group has ended on all tasks. Not informed: simulated tasks, and
  // tasks of a callback group without the functions for it.
  virtual void leave(Leaver leaver) noexcept { end(has_left(leaver), leaver); }

  // Independent. One cached object per handle; storing another replaces it. `key` is an address that identifies the
  // object. Copies of the group begin without one. Tasks may have different objects: before one saves a collective,
  // the tasks must agree.
  void keep(const void* key, std::shared_ptr<void> found) noexcept {
    key_ = key;
    found_ = std::move(found);
  }
  std::shared_ptr<void> kept(const void* key) const noexcept { return key == key_ ? found_ : nullptr; }

 protected:
  explicit Group(Roster* roster = nullptr, TaskRank task = 0) : roster_(roster), task_(task) {}

 private:
  // An operation that all tasks have started completes whatever call they make next.
  bool goes_on_by_itself() const { return class_of(call_) == Call::tw_file_iaccess_all; }

  Roster* const roster_;  // null for kinds without one
  const TaskRank task_;   // number in the roster
  Call call_ = Call::none;
  Primitive outer_ = Primitive::none;
  TaskRank first_rank_ = 0;
  Status ended_;  // OK until the group ends
  Leaver leaver_;
  const void* key_ = nullptr;
  std::shared_ptr<void> found_;
};

// Ends the group after the tasks made different calls; returns the failure, equal on all tasks.
inline Status end_out_of_step(Group& group, const CallsOfAll& calls) {
  group.end(calls.later(), calls.highest());
  return calls.now();
}

// Ends the group because a task has left.
inline Status end_with_leaver(Group& group, const Leaver& leaver) {
  group.end(has_left(leaver), leaver);
  return has_left(leaver);
}

}  // namespace thalweg
