// Team: threads of one process. Tasks read data directly from the memory of the publishing task (team.hpp).
//
// Every function below has one pattern: publish, arrive, wait, read. Where any data are borrowed, it arrives and
// waits once more, so that no task leaves before all have read. The second epoch also carries the flag of a failure,
// which makes a failure the same on all tasks.
//
// When tasks make different calls, all of them detect it after the first epoch (in_step()): they return before any of
// them reads a slot, and the group ends.
#include <cstring>
#include <new>
#include <span>
#include <utility>

#include "group/groups.hpp"
#include "group/memory.hpp"
#include "group/reduce.hpp"
#include "group/team/team.hpp"

namespace thalweg {

namespace {

// co_await: all tasks have arrived at the epoch; or, at the first epoch of a collective, they never will: all of them
// are blocked here and in other teams, or one has freed its group.
struct Passed {
  static constexpr int kRounds = 300;  // of about a millisecond; then this task is entered in the roster

  Team& team;
  Team::Epoch epoch;
  TaskRank rank;
  Team::Mark mark;
  bool first;  // first epoch of the collective
  int rounds = 0;
  bool listed = false;  // entered in the roster
  bool in_vain = false;

  // Spinning first keeps the common case, all tasks running, away from the driver and the kernel.
  bool await_ready() const { return team.passed(epoch) || (Driver::current().may_spin() && team.spin(epoch)); }
  void await_suspend(std::coroutine_handle<> h) { Driver::current().park({ready, block, this}, h); }
  void await_resume() const {
    if (listed) team.roster().take_off(rank);
  }

  static bool ready(void* self) {
    const auto& mine = *static_cast<Passed*>(self);
    return mine.team.passed(mine.epoch) || mine.in_vain;
  }
  static void block(void* self) {
    auto& mine = *static_cast<Passed*>(self);
    mine.team.sleep(mine.epoch);
    if (!mine.first) return;
    if (++mine.rounds % kRounds == 0) mine.say_where();
    const bool nobody_comes = mine.team.who_left() >= 0 || (mine.listed && mine.team.roster().is_over());
    mine.in_vain = nobody_comes && !mine.team.passed(mine.epoch);
  }

 private:
  void say_where() {
    const auto passed = [](const void* where, Team::Epoch when) {
      return static_cast<const Team*>(where)->passed(when);
    };
    listed |= team.roster().put(rank, {&team, epoch, passed, mark.name(), mark.call});
  }
};

class TeamGroup final : public Group {
 public:
  TeamGroup(std::shared_ptr<Team> team, TaskRank rank)
      : Group(&team->roster(), rank), team_(std::move(team)), rank_(rank) {}
  ~TeamGroup() override {
    if (!left_) team_->leave(rank_);
  }
  TeamGroup(const TeamGroup&) = delete;
  TeamGroup& operator=(const TeamGroup&) = delete;

  TaskRank rank() const noexcept override { return rank_; }
  TaskRank size() const noexcept override { return team_->size(); }
  Place place() const noexcept override { return {.tasks_in_process = team_->size()}; }
  const char* kind() const noexcept override { return "team"; }

  Op<Status> barrier() override;
  Op<Result<Bytes>> broadcast(ByteView data, TaskRank root) override;
  Op<Result<Gathered>> gather(ByteView data, TaskRank root) override;
  Op<Result<Bytes>> scatter(const Gathered& parts, TaskRank root) override;
  Op<Result<Gathered>> allgather(ByteView data) override { return collect(Primitive::allgather, data, true); }
  Op<Result<std::vector<std::int64_t>>> allreduce(std::vector<std::int64_t> mine, Reduction how) override;
  Op<Status> fold(void* mine, void* before, Folding how) override;
  Op<Result<std::vector<Message>>> exchange(std::vector<Message> outgoing) override;
  Op<Result<std::shared_ptr<void>>> share_in_process(std::function<std::shared_ptr<void>()> make) override;
  Op<Result<std::unique_ptr<Group>>> duplicate() override;
  void leave(Leaver leaver) noexcept override;

 private:
  Team::Mark mark(Primitive primitive) const { return {call(), outer(), primitive}; }
  void show(Primitive primitive, ByteView data) { team_->show(epoch_, rank_, mark(primitive), data); }
  void show_address(Primitive primitive, const void* address) {
    team_->show_address(epoch_, rank_, mark(primitive), address);
  }
  // Arrives at the current epoch; this task's slot is filled.
  Passed arrive(Primitive primitive, bool first = true) {
    passed_ = epoch_;
    epoch_ = Team::after(epoch_);
    team_->arrive(passed_, mark(primitive));
    return {*team_, passed_, rank_, mark(primitive), first};
  }
  // Arrives after reading; `good`: reading succeeded on this task.
  Passed arrive_after_reading(Primitive primitive, bool good) {
    if (!good) team_->mark_failed(epoch_);
    return arrive(primitive, false);
  }
  // The slot of `rank` in the epoch that passed last.
  Team::Slot& shown(TaskRank rank) { return team_->slot(passed_, rank); }
  bool any_borrowed() const { return team_->any_borrowed(passed_); }
  bool any_failed() const { return team_->any_failed(passed_); }
  bool in_step() const { return team_->in_step(passed_); }
  // Ends the group where the tasks made different calls; returns the failure of all.
  Status refuse();

  // A gather; `receives`: this task gets the parts.
  Op<Result<Gathered>> collect(Primitive primitive, ByteView data, bool receives);
  Op<Result<std::shared_ptr<void>>> share(Primitive primitive, std::function<std::shared_ptr<void>()> make);
  bool has_room_for_small(Gathered& all) const;
  bool copy_all(Gathered& all);
  void take_messages(std::vector<Message>& received);
  TaskRank task_shown(TaskRank rank);

  std::shared_ptr<Team> team_;
  const TaskRank rank_;
  bool left_ = false;       // and the other tasks have been informed
  Team::Epoch epoch_ = 0;   // the next epoch of this task
  Team::Epoch passed_ = 0;  // the epoch before
};

Status TeamGroup::refuse() {
  if (!ended().ok()) return team_->roster().now();
  if (const TaskRank left = team_->who_left(); left >= 0 && !team_->passed(passed_)) {
    end(gone_without(first_rank() + left));
    return ended();
  }
  CallsOfAll calls;
  for (TaskRank r = 0; r < size(); ++r) calls.join({shown(r).mark().call, task_shown(r)});
  if (calls.differ()) return end_out_of_step(*this, calls);
  // The calls have no names, or belong to one class: the collectives themselves differ.
  const Team::Mark first = shown(0).mark();
  TaskRank other = 1;
  while (other + 1 < size() && shown(other).mark().key() == first.key()) ++other;
  const TwoCalls two{first_rank(), first_rank() + other, first.name_of_primitive(),
                     shown(other).mark().name_of_primitive()};
  end(out_of_step(two, false));
  return different_calls(two);
}

// Allocated before the task arrives: without borrowed data no second epoch could report a failed allocation.
bool TeamGroup::has_room_for_small(Gathered& all) const {
  const auto tasks = static_cast<std::uint64_t>(size());
  return try_reserve(all.begin, tasks + 1) && try_reserve(all.data, tasks * Team::kInlineBytes);
}

bool TeamGroup::copy_all(Gathered& all) {
  const auto bytes_of = [&](std::size_t r) { return shown(static_cast<TaskRank>(r)).bytes(); };
  if (!lay_out(all, static_cast<std::size_t>(size()), bytes_of)) return false;
  for (TaskRank r = 0; r < size(); ++r) {
    const ByteView part = shown(r).view();
    if (!part.empty()) std::memcpy(all.data.data() + all.begin[static_cast<std::size_t>(r)], part.data(), part.size());
  }
  return true;
}

// The number that a leaver reports: its rank in the outermost group.
TaskRank TeamGroup::task_shown(TaskRank rank) {
  if (shown(rank).mark().primitive != Primitive::leave) return first_rank() + rank;
  Leaver leaver;
  std::memcpy(&leaver, shown(rank).data, sizeof leaver);
  return leaver.task;
}

// The mark differs from that of any collective, so the others detect it.
void TeamGroup::leave(Leaver leaver) noexcept {
  if (!ended().ok()) return;
  left_ = true;
  serve(leaver.call, outer(), first_rank());
  static_assert(sizeof leaver <= Team::kInlineBytes);
  show(Primitive::leave, std::as_bytes(std::span(&leaver, 1)));
  (void)arrive(Primitive::leave);
  end(has_left(leaver), leaver);
}

Op<Status> TeamGroup::barrier() {
  if (!ended().ok()) co_return ended();
  show(Primitive::barrier, {});
  co_await arrive(Primitive::barrier);
  if (!in_step()) co_return refuse();
  co_return Status{};
}

Op<Result<Bytes>> TeamGroup::broadcast(ByteView data, TaskRank root) {
  if (!ended().ok()) co_return ended();
  if (Status bad = check_root(root, size()); !bad.ok()) co_return bad;
  show(Primitive::broadcast, rank_ == root ? data : ByteView{});
  co_await arrive(Primitive::broadcast);
  if (!in_step()) co_return refuse();
  Bytes copy;
  const ByteView from = shown(root).view();
  if (!any_borrowed()) {
    copy.assign(from.begin(), from.end());
    co_return copy;
  }
  const bool good = try_assign(copy, from);
  co_await arrive_after_reading(Primitive::broadcast, good);
  if (any_failed()) co_return no_memory_for("broadcast");
  co_return copy;
}

Op<Result<Gathered>> TeamGroup::collect(Primitive primitive, ByteView data, bool receives) {
  if (!ended().ok()) co_return ended();
  show(primitive, data);
  Gathered all;
  if (receives && !has_room_for_small(all)) team_->mark_failed(epoch_);
  co_await arrive(primitive);
  if (!in_step()) co_return refuse();
  if (any_failed()) co_return no_memory_for(name_of(primitive));
  const bool good = !receives || copy_all(all);
  if (any_borrowed()) {
    co_await arrive_after_reading(primitive, good);
    if (any_failed()) co_return no_memory_for(name_of(primitive));
  }
  co_return all;
}

Op<Result<Gathered>> TeamGroup::gather(ByteView data, TaskRank root) {
  if (!ended().ok()) co_return ended();
  if (Status bad = check_root(root, size()); !bad.ok()) co_return bad;
  co_return co_await collect(Primitive::gather, data, rank_ == root);
}

Op<Result<Bytes>> TeamGroup::scatter(const Gathered& parts, TaskRank root) {
  if (!ended().ok()) co_return ended();
  if (Status bad = check_root(root, size()); !bad.ok()) co_return bad;
  // Null stands for invalid parts.
  const bool sends = rank_ == root && check_parts(parts, size()).ok();
  show_address(Primitive::scatter, sends ? &parts : nullptr);
  co_await arrive(Primitive::scatter);
  if (!in_step()) co_return refuse();
  const auto* all = static_cast<const Gathered*>(shown(root).data);
  if (all == nullptr) co_return bad_arguments_in("scatter");
  Bytes mine;
  const bool good = try_assign(mine, all->part(static_cast<std::size_t>(rank_)));
  co_await arrive_after_reading(Primitive::scatter, good);
  if (any_failed()) co_return no_memory_for("scatter");
  co_return mine;
}

Op<Result<std::vector<std::int64_t>>> TeamGroup::allreduce(std::vector<std::int64_t> mine, Reduction how) {
  if (!ended().ok()) co_return ended();
  show(Primitive::allreduce, std::as_bytes(std::span(mine)));
  // Every task reduces all vectors: within a team that is cheaper than a second epoch through one task.
  std::vector<std::int64_t> result, other;
  if (!try_resize(result, mine.size()) || !try_resize(other, mine.size())) team_->mark_failed(epoch_);
  co_await arrive(Primitive::allreduce);
  if (!in_step()) co_return refuse();
  if (any_failed()) co_return no_memory_for("allreduce");
  bool same_length = true;
  for (TaskRank r = 0; r < size(); ++r) {
    const ByteView theirs = shown(r).view();
    same_length = same_length && theirs.size() == mine.size() * sizeof(std::int64_t);
    if (!same_length || theirs.empty()) continue;
    std::memcpy(r == 0 ? result.data() : other.data(), theirs.data(), theirs.size());
    if (r > 0) reduce_into(result, other, how);
  }
  if (any_borrowed()) co_await arrive_after_reading(Primitive::allreduce, true);
  // Where lengths differ, every task finds one that differs from its own: the same answer on all.
  if (!same_length) co_return bad_arguments_in("allreduce");
  co_return result;
}

Op<Status> TeamGroup::fold(void* mine, void* before, Folding how) {
  if (!ended().ok()) co_return ended();
  show(Primitive::fold, ByteView(static_cast<const std::byte*>(mine), how.bytes));
  co_await arrive(Primitive::fold);
  if (!in_step()) co_return refuse();
  Folding::Room so_far;
  std::memcpy(&so_far, shown(0).view().data(), how.bytes);
  for (TaskRank r = 1; r < size(); ++r) {
    if (r == rank_) std::memcpy(before, &so_far, how.bytes);
    how.join(&so_far, shown(r).view().data());
  }
  if (any_borrowed()) co_await arrive_after_reading(Primitive::fold, true);
  std::memcpy(mine, &so_far, how.bytes);
  co_return Status{};
}

// A message has one receiver, which moves its bytes instead of copying them; no other task touches them.
void TeamGroup::take_messages(std::vector<Message>& received) {
  for (TaskRank r = 0; r < size(); ++r) {
    auto* theirs = const_cast<std::vector<Message>*>(static_cast<const std::vector<Message>*>(shown(r).data));
    for (Message& message : *theirs) {
      if (message.peer == rank_) received.push_back({r, std::move(message.data)});
    }
  }
}

Op<Result<std::vector<Message>>> TeamGroup::exchange(std::vector<Message> outgoing) {
  if (!ended().ok()) co_return ended();
  // Null stands for messages with invalid receivers.
  show_address(Primitive::exchange, check_peers(outgoing, size()).ok() ? &outgoing : nullptr);
  co_await arrive(Primitive::exchange);
  if (!in_step()) co_return refuse();
  bool good = true;
  for (TaskRank r = 0; r < size(); ++r) good = good && shown(r).data != nullptr;
  std::vector<Message> received;
  const bool taken = !good || try_to([&] { take_messages(received); });
  co_await arrive_after_reading(Primitive::exchange, taken);
  if (!good) co_return bad_arguments_in("exchange");
  if (any_failed()) co_return no_memory_for("exchange");
  co_return received;
}

Op<Result<std::shared_ptr<void>>> TeamGroup::share(Primitive primitive, std::function<std::shared_ptr<void>()> make) {
  if (!ended().ok()) co_return ended();
  std::shared_ptr<void> object;
  if (rank_ == 0) object = make();
  show_address(primitive, &object);
  co_await arrive(primitive);
  if (!in_step()) co_return refuse();
  // The other tasks only read the pointer, so task 0 may read it, too.
  if (rank_ != 0) object = *static_cast<const std::shared_ptr<void>*>(shown(0).data);
  co_await arrive_after_reading(primitive, true);
  co_return object;
}

Op<Result<std::shared_ptr<void>>> TeamGroup::share_in_process(std::function<std::shared_ptr<void>()> make) {
  return share(Primitive::share_in_process, std::move(make));
}

Op<Result<std::unique_ptr<Group>>> TeamGroup::duplicate() {
  std::function<std::shared_ptr<void>()> make = [this]() -> std::shared_ptr<void> {
    try {
      return std::make_shared<Team>(size(), team_.get());
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
  };
  TW_CO_ASSIGN_OR_RETURN(auto shared, co_await share(Primitive::duplicate, std::move(make)));
  auto team = std::static_pointer_cast<Team>(std::move(shared));
  if (team == nullptr) co_return no_memory_for("duplicate");
  co_return make_team_group(std::move(team), rank_);
}

}  // namespace

Result<std::unique_ptr<Group>> make_team_group(std::shared_ptr<Team> team, TaskRank rank) {
  if (rank < 0 || rank >= team->size()) {
    return Status::error(Code::invalid_argument, "task {} is not in a team of {} tasks", rank, team->size());
  }
  if (!team->take_rank(rank)) {
    return Status::error(Code::invalid_argument, "task {} of this team has its group already", rank);
  }
  return std::unique_ptr<Group>(std::make_unique<TeamGroup>(std::move(team), rank));
}

}  // namespace thalweg
