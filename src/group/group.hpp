// Group: who takes part. A size, this task's rank, where the task lives, and the collectives.
//
// Every collective is called by all tasks of the group in the same order with matching arguments. A collective
// has no failure of its own by bad luck: what can fail (memory, a broken transport) comes back as a Status that
// is the same on every task. A group does not know I/O.
//
// Tasks that make different calls at once: where that can be told, all of them fail, and the group ends (end()).
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

// How records of `bytes` bytes, at most kMost, become one for their tasks together: join(left, right) puts it into
// `left`, which is of the lower ranks. Associative, cannot fail. Records are bytes that mean the same in all processes.
struct Folding {
  static constexpr std::size_t kMost = 512;
  std::size_t bytes;
  void (*join)(void* left, const void* right);
  // Room for one, aligned for whatever it is.
  struct alignas(std::max_align_t) Record {
    std::array<std::byte, kMost> bytes;
  };
};

// The folding of records that have join(next): `next` is of higher ranks.
template <class Joined>
constexpr Folding folding_of() {
  static_assert(sizeof(Joined) <= Folding::kMost && std::is_trivially_copyable_v<Joined>);
  return {sizeof(Joined),
          [](void* left, const void* right) { static_cast<Joined*>(left)->join(*static_cast<const Joined*>(right)); }};
}

// Where a task lives. Tasks of one process share memory (and, in the file room, file descriptors).
struct Place {
  std::int64_t process = 0;    // number of this task's process within the group, 0-based, dense
  std::int64_t processes = 1;  // how many processes the group spans
  std::int64_t node = 0;       // number of this task's node within the group, 0-based, dense
  std::int64_t nodes = 1;
  TaskRank process_leader = 0;  // lowest rank in this task's process
  std::int64_t tasks_in_process = 1;
  TaskRank node_leader = 0;  // lowest rank on this task's node
};

// What a group serves: a collective of the outer group, and the outer rank of this group's task 0.
struct Within {
  Primitive primitive = Primitive::none;
  TaskRank first_rank = 0;
};

class Group {
 public:
  virtual ~Group() = default;
  virtual TaskRank rank() const noexcept = 0;
  virtual TaskRank size() const noexcept = 0;
  virtual Place place() const noexcept = 0;
  virtual const char* kind() const noexcept = 0;  // "self", "team", "mpi", "hybrid", "callbacks", "sim"
  // Whether another thread may advance this task's collectives, while the task's own thread makes other calls.
  virtual bool any_thread() const noexcept { return true; }
  // Whether all messages of an exchange pass through one task, and collectives are functions of the user's that wait
  // for the other tasks on the thread that calls. Good for a few words, not for data. The same on all tasks.
  virtual bool relays() const noexcept { return false; }
  // Which threads may advance nonblocking operations of the group.
  Advancers advancers() const noexcept {
    if (relays()) return Advancers::starter;
    return any_thread() ? Advancers::any : Advancers::transport;
  }
  // With THALWEG_CHECK=1, between ranks: compares the calls of all ranks before one is made on this handle
  // (group/call_check.hpp). Collective. Costs nothing where nobody asked for it.
  virtual bool checks_calls() const noexcept { return false; }
  virtual Op<Status> compare_calls(Call /*call*/) { co_return Status{}; }
  // Whether a collective always suspends before it completes, so that completions cannot pile up on the stack.
  virtual bool always_suspends() const noexcept { return false; }

  // All collective. `data` given by reference stays alive until the Op is done.
  virtual Op<Status> barrier() = 0;
  // The root's bytes reach every task (the root's own included).
  virtual Op<Result<Bytes>> broadcast(ByteView data, TaskRank root) = 0;
  // Everybody's bytes reach the root; lengths may differ and may be 0. Elsewhere the result has no parts.
  virtual Op<Result<Gathered>> gather(ByteView data, TaskRank root) = 0;
  // On the root, part i goes to task i; elsewhere `parts` is ignored.
  virtual Op<Result<Bytes>> scatter(const Gathered& parts, TaskRank root) = 0;
  virtual Op<Result<Gathered>> allgather(ByteView data) = 0;
  // Element-wise over equally long vectors.
  virtual Op<Result<std::vector<std::int64_t>>> allreduce(std::vector<std::int64_t> mine, Reduction how) = 0;
  // The records of all tasks are joined in rank order: `mine` becomes that of all tasks, `before` that of the tasks of
  // lower rank (task 0: it stays as it is). Neither memory nor the number of messages of a task grows faster than the
  // logarithm of the number of tasks. Both belong to the caller and stay until the Op is done.
  virtual Op<Status> fold(void* mine, void* before, Folding how) = 0;
  // Sparse all-to-all: each task names its few partners. Received messages come sorted by source.
  virtual Op<Result<std::vector<Message>>> exchange(std::vector<Message> outgoing) = 0;
  // One object per process: made by `make` on the process leader, the same pointer on all tasks of the process.
  // `make` must not throw; it may return null, and then all tasks of that process get null.
  virtual Op<Result<std::shared_ptr<void>>> share_in_process(std::function<std::shared_ptr<void>()> make) = 0;
  // An independent group of the same tasks with the same ranks (as MPI_Comm_dup): collectives on the copy do
  // not mix with those on the original. Collective.
  virtual Op<Result<std::unique_ptr<Group>>> duplicate() = 0;
  // As duplicate(), for what is opened with the group, which opens many: a kind may give a part of what the group has.
  // Of the result neither channels nor duplicates are to be made while collectives of its relatives are under way.
  virtual Op<Result<std::unique_ptr<Group>>> channel() { return duplicate(); }

  // Independent: the call of the library that the calling thread makes on the group, for this task.
  void set_call(Call call) noexcept {
    call_ = call;
    if (roster_ != nullptr) roster_->note_thread(task_);
  }
  // Independent: the same where another group, which this one serves, was called.
  void serve(Call call, Within within) noexcept {
    call_ = call;
    within_ = within;
  }
  Call call() const noexcept { return call_; }
  Within within() const noexcept { return within_; }

  // Independent: from now on every collective of this handle fails at once with `why` and waits for nobody. Of several
  // reasons the first one stays. Done by the tasks themselves when they find out that they make different calls, or
  // that one of them has left.
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

  // Independent, and waits for nobody: in place of this task's part in the next collective of the others, which is a
  // fold. They are told that it has left, and this group has ended, on all of them. Not told are the tasks of a group
  // of the user's functions that has none to say so, and simulated ones.
  virtual void leave(Leaver leaver) noexcept { end(has_left(leaver), leaver); }

  // Independent: what this task's user of the group has found out about it, until the next time; one thing, which goes
  // when another is kept. `key` is an address that says what it is. Copies of the group begin without. Tasks may keep
  // different things: where it saves a collective they have to agree first.
  void keep(const void* key, std::shared_ptr<void> found) noexcept {
    key_ = key;
    found_ = std::move(found);
  }
  std::shared_ptr<void> kept(const void* key) const noexcept { return key == key_ ? found_ : nullptr; }

 protected:
  explicit Group(Roster* roster = nullptr, TaskRank task = 0) : roster_(roster), task_(task) {}

 private:
  // What all tasks have begun without waiting can be completed, whatever they do then.
  bool goes_on_by_itself() const { return class_of(call_) == Call::tw_file_iaccess_all; }

  Roster* const roster_;  // of kinds that have one
  const TaskRank task_;   // in it
  Call call_ = Call::none;
  Within within_;
  Status ended_;  // OK: it goes on
  Leaver leaver_;
  const void* key_ = nullptr;
  std::shared_ptr<void> found_;
};

// The tasks make different calls: the group ends. What all of them say.
inline Status end_out_of_step(Group& group, const CallsOfAll& calls) {
  group.end(calls.later(), calls.highest());
  return calls.now();
}

// Ends the group with the task that has left as the reason.
inline Status end_with_leaver(Group& group, const Leaver& leaver) {
  group.end(has_left(leaver), leaver);
  return has_left(leaver);
}

}  // namespace thalweg
