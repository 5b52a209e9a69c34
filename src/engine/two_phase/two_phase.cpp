// What happens in a round, and in what order tasks meet in it, is told in docs/design/two_phase.md. A task's own
// failure is kept until all have agreed behind the last round; until then it takes part in whatever the others do.
#include "engine/two_phase/two_phase.hpp"

#include <algorithm>
#include <coroutine>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/plan_log.hpp"
#include "engine/two_phase/aggregator_window.hpp"
#include "engine/two_phase/exchange_client.hpp"
#include "engine/two_phase/node_relay.hpp"
#include "group/agree.hpp"

namespace thalweg {

namespace {

using Messages = std::vector<Message>;

constexpr std::int64_t kFewTasks = 16;  // up to so many, each counts as one that has bytes in each domain

void keep_first(Status& status, Status other) {
  if (status.ok()) status = std::move(other);
}

// Which aggregator this task is, if any.
std::optional<std::size_t> seat_of(const TwoPhase& what) {
  for (std::size_t i = 0; i < what.n_aggregators; ++i)
    if (what.aggregator(i).rank == what.group->rank()) return i;
  return {};
}

Rounds rounds_of(const TwoPhase& what) {
  // Of the strategy, which is task 0's on all: what a process finds itself may differ from mount to mount.
  const std::uint64_t unit = std::max<std::uint64_t>(what.file->strategy.costs.block, kCachePage);
  return {even_domains(what.range, what.n_aggregators, unit), what.budget().window, kCachePage};
}

// All that a task needs to take part in rounds; made before the first one, so that no task can fail to.
struct Part {
  // May throw std::bad_alloc.
  explicit Part(const TwoPhase& given)
      : what(given), rounds(rounds_of(given)), client(what, rounds), seat(seat_of(given)), numbers(2 * rounds.n() + 1) {
    if (what.group->size() > kFewTasks) sharers.resize(rounds.n());
    if (!seat.has_value()) return;
    for (auto& window : windows) window.emplace(what, *seat);
  }
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  std::span<std::int64_t> lowest() { return std::span(numbers).first(rounds.n()); }
  std::span<std::int64_t> ends() { return std::span(numbers).subspan(rounds.n(), rounds.n()); }
  // Of an aggregator; two take turns.
  AggregatorWindow* window(std::size_t round) { return seat.has_value() ? &*windows[round % 2] : nullptr; }

  const TwoPhase& what;
  Rounds rounds;
  ExchangeClient client;
  NodeRelay relay;
  std::optional<std::size_t> seat;
  std::optional<AggregatorWindow> windows[2];
  // Of the reduction that opens a round: lowest bytes, ends of windows, and less than 0: that many slices of replies.
  std::vector<std::int64_t> numbers;
  std::vector<std::int64_t> sharers;
  bool has_repeated = false;
  TransferResult result;
};

// Collective. How many tasks have bytes in each domain.
Op<Status> count_sharers(Part& part) {
  if (part.sharers.empty()) co_return Status{};
  std::vector<std::int64_t> mine;
  mine.swap(part.sharers);
  part.client.mark_domains(mine);
  auto sharers = co_await part.what.group->allreduce(std::move(mine), Reduction::sum);
  if (!sharers.has_value()) co_return sharers.error();
  part.client.set_sharers(std::move(sharers).value());
  co_return Status{};
}

// co_await: goes on from the driver. Compilers make the return from one coroutine to another a jump, but not where
// sanitizers watch: there rounds in which nobody has to wait would pile up on the stack.
struct ResumeFromDriver {
  const Group& group;
  bool await_ready() const { return group.always_suspends(); }
  void await_suspend(std::coroutine_handle<> h) const {
    Driver::current().park({[](void*) { return true; }, nullptr, nullptr}, h);
  }
  void await_resume() const {}
};

// What an aggregator adds to the reduction about the round before.
void report_on(const AggregatorWindow& last, Part& part) {
  part.numbers.back() = -last.n_slices();
  if (last.unreachable().ok()) return;
  if (part.has_repeated) return keep_first(part.result.status, last.unreachable());
  part.has_repeated = true;
  part.ends()[*part.seat] = Rounds::kAgain;
}

// Nothing: no task has a byte left. Broken: the group can go on no further. The same on all tasks.
enum class Opened { windows, nothing, broken };

Op<Opened> open_round(Part& part, std::size_t round) {
  const ResumeFromDriver off{*part.what.group};
  co_await off;
  part.client.propose(part.lowest(), part.ends());
  part.numbers.back() = 0;
  if (part.seat.has_value()) report_on(*part.window(round + 1), part);
  auto agreed = co_await part.what.group->allreduce(std::move(part.numbers), Reduction::min);
  keep_first(part.result.status, agreed.status());
  if (!agreed.has_value()) co_return Opened::broken;
  part.numbers = std::move(agreed).value();
  part.client.apply(part.ends());
  co_return part.rounds.open(part.lowest(), part.ends()) ? Opened::windows : Opened::nothing;
}

// Loads and starts what came in, unless something has failed before.
void load_window(Part& part, AggregatorWindow& window, Messages requests) {
  Status& status = part.result.status;
  window.drop();
  if (!status.ok()) return;
  status = or_out_of_memory([&] { return window.load(part.rounds.window(*part.seat), std::move(requests)); });
  if (!status.ok()) return window.drop();
  if (window.unreachable().ok()) window.start();
}

// What `make` makes; nothing, and the failure kept, without memory.
template <class Make>
auto made_by(Part& part, Make&& make) -> decltype(make()) {
  decltype(make()) made;
  keep_first(part.result.status, or_out_of_memory([&] {
               made = make();
               return Status{};
             }));
  return made;
}

// Collective. The requests for this task.
Op<Result<Messages>> send_requests(Part& part) {
  Group& group = *part.what.group;
  const NodeRelay& relay = part.relay;
  Outgoing outgoing = made_by(part, [&] { return part.client.requests(relay); });
  Messages to_aggregators;
  if (relay.on()) {
    const auto passing = co_await group.exchange(std::move(outgoing.to_relays));
    if (!passing.has_value()) co_return passing.error();
    to_aggregators = made_by(part, [&] {
      Messages all = relay.relay_requests(passing.value());
      std::move(outgoing.to_aggregators.begin(), outgoing.to_aggregators.end(), std::back_inserter(all));
      return all;
    });
  } else {
    to_aggregators = std::move(outgoing.to_aggregators);
  }
  co_return co_await group.exchange(std::move(to_aggregators));
}

// Collective. Replys come to their tasks.
Op<Status> send_replies(Part& part, Messages replies) {
  Group& group = *part.what.group;
  const auto received = co_await group.exchange(std::move(replies));
  if (!received.has_value()) co_return received.error();
  part.client.receive(received.value());
  if (!part.relay.on()) co_return Status{};
  Messages onward = made_by(part, [&] { return part.relay.relay_replies(received.value()); });
  const auto relayed = co_await group.exchange(std::move(onward));
  if (relayed.has_value()) part.client.receive(relayed.value());
  co_return relayed.status();
}

// Requests go to the aggregators, whose windows take off. False: the group can go on no further.
Op<bool> exchange_requests(Part& part, std::size_t round) {
  auto received = co_await send_requests(part);
  keep_first(part.result.status, received.status());
  if (!received.has_value()) co_return false;
  if (!part.seat.has_value()) co_return true;
  AggregatorWindow& window = *part.window(round);
  co_await Until{window.idle()};
  add_to(part.result, window.result());
  load_window(part, window, std::move(received).value());
  co_return true;
}

// What was read in `round` goes to the tasks, in as many exchanges as its largest replies take. False: the group can go
// on no further.
Op<bool> reply_to_clients(Part& part, std::size_t round, std::int64_t slices) {
  std::uint64_t end = kEverything;
  AggregatorWindow* window = part.window(round);
  if (window != nullptr) {
    co_await Until{window->idle()};
    TransferResult read = window->result();
    end = read.end_of_file;
    add_to(part.result, std::move(read));
  }
  for (std::int64_t slice = 0; slice < std::max<std::int64_t>(slices, 1); ++slice) {
    const ResumeFromDriver off{*part.what.group};
    co_await off;
    Messages replies;
    if (window != nullptr && part.result.status.ok()) replies = made_by(part, [&] { return window->replies(end); });
    const Status sent = co_await send_replies(part, std::move(replies));
    keep_first(part.result.status, sent);
    if (!sent.ok()) co_return false;
  }
  co_return true;
}

Op<bool> write_rounds(Part& part) {
  for (std::size_t round = 0;; ++round) {
    const Opened opened = co_await open_round(part, round);
    if (opened != Opened::windows) co_return opened == Opened::nothing;
    const bool goes_on = co_await exchange_requests(part, round);
    if (!goes_on) co_return false;
  }
}

// A round is read while the next one is asked for.
Op<bool> read_rounds(Part& part) {
  for (std::size_t round = 0;; ++round) {
    const Opened opened = co_await open_round(part, round);
    bool goes_on = opened != Opened::broken;
    const std::int64_t slices = goes_on ? -part.numbers.back() : 0;
    if (opened == Opened::windows) goes_on = co_await exchange_requests(part, round);
    if (goes_on && round > 0) goes_on = co_await reply_to_clients(part, round - 1, slices);
    if (!goes_on || opened == Opened::nothing) co_return goes_on;
  }
}

}  // namespace

Op<TransferResult> two_phase(TwoPhase what) {
  std::optional<Part> part;
  Status ready = or_out_of_memory([&] {
    part.emplace(what);
    return Status{};
  });
  ready = co_await agree(*what.group, std::move(ready));
  if (ready.ok()) ready = co_await count_sharers(*part);
  if (!ready.ok()) {
    TransferResult failure;
    failure.status = std::move(ready);
    co_return failure;
  }
  const std::uint64_t sharers = part->client.most_sharers();
  part->relay = NodeRelay(what, sharers);
  if (part->relay.on() && what.group->rank() == 0)
    log_relay(what.file->stored->path(), sharers, what.group->place().nodes);
  if (what.reads()) {
    co_await read_rounds(*part);
  } else {
    co_await write_rounds(*part);
  }
  for (auto& window : part->windows) {
    if (!window.has_value()) continue;
    co_await Until{window->idle()};
    add_to(part->result, window->result());
  }
  co_return std::move(part->result);
}

}  // namespace thalweg
