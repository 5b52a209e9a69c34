#include "sim/sim_group.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <string>
#include <utility>

#include "group/memory.hpp"
#include "sim/sim_channel.hpp"
#include "sim/sim_network.hpp"

namespace thalweg {

namespace {

constexpr int kMostLooks = 100;  // without progress: then a wait outside groups counts as a deadlock

class SimGroup final : public Group {
 public:
  SimGroup(std::shared_ptr<SimChannel> channel, TaskRank rank) : channel_(std::move(channel)), rank_(rank) {}

  TaskRank rank() const noexcept override { return rank_; }
  TaskRank size() const noexcept override { return channel_->size(); }
  Place place() const noexcept override;
  const char* kind() const noexcept override { return "sim"; }
  bool always_suspends() const noexcept override { return true; }

  Op<Status> barrier() override;
  Op<Result<Bytes>> broadcast(ByteView data, TaskRank root) override;
  Op<Result<Gathered>> gather(ByteView data, TaskRank root) override;
  Op<Result<Bytes>> scatter(const Gathered& parts, TaskRank root) override;
  Op<Result<Gathered>> allgather(ByteView data) override;
  Op<Result<std::vector<std::int64_t>>> allreduce(std::vector<std::int64_t> mine, Reduction how) override;
  Op<Status> fold(void* mine, void* before, Folding how) override;
  Op<Result<std::vector<Message>>> exchange(std::vector<Message> outgoing) override;
  Op<Result<std::shared_ptr<void>>> share_in_process(std::function<std::shared_ptr<void>()> make) override;
  Op<Result<std::unique_ptr<Group>>> duplicate() override { return copy(SimCall::duplicate); }
  Op<Result<std::unique_ptr<Group>>> channel() override { return copy(SimCall::channel); }

 private:
  Op<Result<std::unique_ptr<Group>>> copy(SimCall call);
  std::shared_ptr<SimChannel> channel_;
  const TaskRank rank_;
};

std::int64_t groups_of(std::int64_t members, std::int64_t all) { return (all + members - 1) / members; }

Place SimGroup::place() const noexcept {
  const SimOptions& options = channel_->options();
  const TaskRank per_process = options.tasks_per_process;
  Place place;
  place.process = rank_ / per_process;
  place.processes = groups_of(per_process, size());
  place.node = place.process / options.processes_per_node;
  place.nodes = groups_of(options.processes_per_node, place.processes);
  place.process_leader = place.process * per_process;
  place.tasks_in_process = std::min(per_process, size() - place.process_leader);
  place.node_leader = place.node * options.processes_per_node * per_process;
  return place;
}

Op<Status> SimGroup::barrier() {
  if (!ended().ok()) co_return ended();
  SimArrival meeting{*channel_, rank_, SimCall::barrier};
  co_return (co_await meeting).status;
}

Op<Result<Bytes>> SimGroup::broadcast(ByteView data, TaskRank root) {
  if (!ended().ok()) co_return ended();
  if (Status bad = check_root(root, size()); !bad.ok()) co_return bad;
  SimArrival meeting{*channel_, rank_, SimCall::broadcast, root, &data};
  const SimOutcome& outcome = co_await meeting;
  if (!outcome.status.ok()) co_return outcome.status;
  co_return Bytes(outcome.bytes);
}

Op<Result<Gathered>> SimGroup::gather(ByteView data, TaskRank root) {
  if (!ended().ok()) co_return ended();
  if (Status bad = check_root(root, size()); !bad.ok()) co_return bad;
  SimArrival meeting{*channel_, rank_, SimCall::gather, root, &data};
  SimOutcome& outcome = co_await meeting;
  if (!outcome.status.ok()) co_return outcome.status;
  if (rank_ != root) co_return Gathered{};
  co_return std::move(outcome.parts);  // no other task reads them
}

Op<Result<Bytes>> SimGroup::scatter(const Gathered& parts, TaskRank root) {
  if (!ended().ok()) co_return ended();
  if (Status bad = check_root(root, size()); !bad.ok()) co_return bad;
  SimArrival meeting{*channel_, rank_, SimCall::scatter, root, const_cast<Gathered*>(&parts)};
  const SimOutcome& outcome = co_await meeting;
  if (!outcome.status.ok()) co_return outcome.status;
  const ByteView mine = outcome.parts.part(static_cast<std::size_t>(rank_));
  co_return Bytes(mine.begin(), mine.end());
}

Op<Result<Gathered>> SimGroup::allgather(ByteView data) {
  if (!ended().ok()) co_return ended();
  SimArrival meeting{*channel_, rank_, SimCall::allgather, 0, &data};
  const SimOutcome& outcome = co_await meeting;
  if (!outcome.status.ok()) co_return outcome.status;
  co_return Gathered(outcome.parts);
}

Op<Result<std::vector<std::int64_t>>> SimGroup::allreduce(std::vector<std::int64_t> mine, Reduction how) {
  if (!ended().ok()) co_return ended();
  SimArrival meeting{*channel_, rank_, SimCall::allreduce, 0, &mine, how};
  const SimOutcome& outcome = co_await meeting;
  if (!outcome.status.ok()) co_return outcome.status;
  mine = outcome.numbers;
  co_return std::move(mine);
}

Op<Status> SimGroup::fold(void* mine, void* before, Folding how) {
  if (!ended().ok()) co_return ended();
  SimFold both{mine, before, how};
  SimArrival meeting{*channel_, rank_, SimCall::fold, 0, &both};
  co_return (co_await meeting).status;
}

Op<Result<std::vector<Message>>> SimGroup::exchange(std::vector<Message> outgoing) {
  if (!ended().ok()) co_return ended();
  SimArrival meeting{*channel_, rank_, SimCall::exchange, 0, &outgoing};
  SimOutcome& outcome = co_await meeting;
  if (!outcome.status.ok()) co_return outcome.status;
  const auto begin = outcome.messages.begin() + static_cast<std::ptrdiff_t>(outcome.messages_begin[rank_]);
  const auto end = outcome.messages.begin() + static_cast<std::ptrdiff_t>(outcome.messages_begin[rank_ + 1]);
  co_return std::vector<Message>(std::make_move_iterator(begin), std::make_move_iterator(end));
}

Op<Result<std::shared_ptr<void>>> SimGroup::share_in_process(std::function<std::shared_ptr<void>()> make) {
  if (!ended().ok()) co_return ended();
  SimArrival meeting{*channel_, rank_, SimCall::share, 0, &make};
  const SimOutcome& outcome = co_await meeting;
  if (!outcome.status.ok()) co_return outcome.status;
  co_return std::shared_ptr<void>(outcome.objects[static_cast<std::size_t>(place().process)]);
}

Op<Result<std::unique_ptr<Group>>> SimGroup::copy(SimCall call) {
  if (!ended().ok()) co_return ended();
  SimArrival meeting{*channel_, rank_, call};
  const SimOutcome& outcome = co_await meeting;
  if (!outcome.status.ok()) co_return outcome.status;
  co_return std::unique_ptr<Group>(std::make_unique<SimGroup>(outcome.channel, rank_));
}

}  // namespace

SimWorld::SimWorld(const SimOptions& options) : options_(options), random_(options.seed) {
  const auto channel = SimChannel::make(*this);
  groups_.reserve(static_cast<std::size_t>(options.tasks));
  for (TaskRank r = 0; r < options.tasks; ++r) groups_.push_back(std::make_unique<SimGroup>(channel, r));
  if (!options.costs.has_value()) return;
  ledger_.tasks.resize(static_cast<std::size_t>(options.tasks));
  network_ = std::make_unique<SimNetwork>(options, *options.costs, ledger_);
}

SimWorld::~SimWorld() = default;

void SimWorld::start_all(const Tasks& tasks) {
  std::vector<std::size_t> order(tasks.count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  // Not std::shuffle: its use of the generator differs between standard libraries, and a seed must be reproducible.
  for (std::size_t i = options_.shuffled ? order.size() : 0; i > 1; --i) std::swap(order[i - 1], order[random_() % i]);
  std::stable_partition(order.begin(), order.end(),
                        [&](std::size_t i) { return static_cast<TaskRank>(i) != options_.late; });
  for (const std::size_t i : order) tasks.start(tasks.all, i);
}

std::coroutine_handle<> SimWorld::take_ready() {
  if (options_.shuffled) {
    std::swap(ready_[random_() % ready_.size()], ready_.back());
    const auto coroutine = ready_.back();
    ready_.pop_back();
    return coroutine;
  }
  const auto coroutine = ready_[next_ready_++];
  // Drops the front when it is the larger half: each entry moves at most once on average.
  if (2 * next_ready_ >= ready_.size()) {
    ready_.erase(ready_.begin(), ready_.begin() + static_cast<std::ptrdiff_t>(next_ready_));
    next_ready_ = 0;
  }
  return coroutine;
}

void SimWorld::wake(TaskRank rank, std::coroutine_handle<> coroutine) {
  (rank == options_.late ? late_ : ready_).push_back(coroutine);
}

// Polls the tasks that wait outside groups. False: deadlock.
bool SimWorld::look_elsewhere(Driver& driver) {
  for (int looks = 0; !driver.idle() && looks < kMostLooks; ++looks) {
    ledger_.nobody_can_go_on = looks > 0;
    ++ledger_.looks;
    if (driver.step()) {
      ledger_.nobody_can_go_on = false;
      return true;
    }
  }
  ledger_.nobody_can_go_on = false;
  return false;
}

void SimWorld::run_ready(Driver& driver) {
  while (failure_.ok()) {
    if (options_.closed && options_.shuffled && !driver.idle() && random_() % 4 == 0) {
      ++ledger_.looks;
      driver.step();
    }
    if (!ready_.empty()) {
      take_ready().resume();
    } else if (options_.closed ? look_elsewhere(driver) : driver.step()) {
      continue;
    } else if (!late_.empty()) {
      std::swap(ready_, late_);
    } else if (options_.closed || driver.idle()) {
      return;
    } else {
      driver.step_or_wait();
    }
  }
}

Status SimWorld::run_tasks(const Tasks& tasks) {
  if (tasks.count != static_cast<std::size_t>(size())) {
    return Status::error(Code::invalid_argument, "a world of {} tasks was given {} to run", size(), tasks.count);
  }
  if (!failure_.ok()) return failure_;
  Driver driver;
  const Driver::Use use(driver);
  start_all(tasks);
  run_ready(driver);
  if (failure_.ok()) failure_ = stuck(tasks, driver);
  return failure_;
}

Status SimWorld::stuck(const Tasks& tasks, const Driver& driver) const {
  std::size_t unfinished = 0;
  for (std::size_t i = 0; i < tasks.count; ++i) unfinished += tasks.done(tasks.all, i) ? 0 : 1;
  if (unfinished == 0) return {};
  std::string text = fmt::format("deadlock: {} of {} tasks cannot go on", unfinished, tasks.count);
  for (const auto& weak : channels_) {
    const auto channel = weak.lock();
    const std::string waiting = channel ? channel->describe() : std::string();
    if (!waiting.empty()) text += "; " + waiting;
  }
  if (!driver.idle()) text += "; some wait for what is no group";
  return Status::error(Code::internal, text);
}

}  // namespace thalweg
