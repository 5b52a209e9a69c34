// The steps of a round, and their order, are described in docs/design/two_phase.md. A task keeps its own failure until
// all tasks agree behind the last round; until then it takes part in every step.
#include "engine/two_phase/two_phase.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
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

constexpr std::int64_t kFewTasks = 16;           // up to so many, each counts as one that has bytes in each domain
constexpr std::size_t kFewAggregators = 8;       // up to so many, what a task needs for the rounds is small
constexpr std::uint64_t kMostEncodedOfRun = 60;  // six numbers

// Neighbours in rank mostly have neighbouring bytes: so an aggregator has many bytes of its domain itself.
std::span<const Aggregator> order_by_rank(std::span<const Aggregator> some, std::vector<Aggregator>& ordered) {
  ordered.assign(some.begin(), some.end());
  std::ranges::sort(ordered, {}, &Aggregator::rank);
  return ordered;
}

// Number of this task among the aggregators, if it is one.
std::optional<std::size_t> seat_of(const TwoPhase& what) {
  for (std::size_t i = 0; i < what.n_aggregators; ++i)
    if (what.aggregator(i).rank == what.group->rank()) return i;
  return {};
}

// Whether each page must have the aggregator that it has in all accesses.
bool must_own_pages(const TwoPhase& what) { return !what.access->is_coherent && !what.reads(); }

// Sieving would write back stripes of other aggregators between those of this one.
StripeOrder order_of(const TwoPhase& what) {
  const Strategy& strategy = what.file().strategy;
  if (strategy.stripe_bytes == 0 || strategy.stripe_count < 2 || what.n_aggregators < 2 || what.window_task.sieve ||
      must_own_pages(what) || !suits_targets(what.n_aggregators, strategy.stripe_count))
    return {};
  return {{what.access->begin, what.access->end}, what.n_aggregators, strategy.stripe_bytes};
}

// The list of this task in the order of stripes; `list` may lead into `cut`. May throw std::bad_alloc.
Status put_in_order(TwoPhase& what, std::vector<Extent>& cut, ExtentList& list) {
  if (!what.order.on() || what.list == nullptr) return {};
  cut = what.order.extents(*what.list);
  TW_ASSIGN_OR_RETURN(list, ExtentList::of(cut));
  what.list = &list;
  return {};
}

// Block and stripe of the strategy are those of task 0 on all tasks; those of other mounts may differ.
Rounds rounds_of(const TwoPhase& what) {
  const Strategy& strategy = what.file().strategy;
  const std::uint64_t unit =
      std::max<std::uint64_t>({strategy.costs.block, strategy.stripe_bytes, kCachePage, what.file().page_bytes});
  const FileDomain range{what.access->begin, what.access->end};
  const std::uint64_t window = what.budget().window;
  if (must_own_pages(what)) {
    const std::uint64_t part = unit <= window ? unit : std::max<std::uint64_t>(kCachePage, what.file().page_bytes);
    const std::uint64_t stripe = std::max<std::uint64_t>(window / part, 1) * part;  // of whole pages, in one window
    return {std::vector<FileDomain>(what.n_aggregators, range), window, kCachePage, 0, stripe};
  }
  return {what.order.on() ? what.order.domains() : even_domains(range, what.n_aggregators, unit, strategy.stripe_count),
          window, kCachePage, strategy.stripe_bytes};
}

// The state of a task in the rounds; made before the first one, so that every task can take part.
struct Participant {
  // May throw std::bad_alloc.
  explicit Participant(const TwoPhase& given)
      : what(given), rounds(rounds_of(given)), client(what, rounds), seat(seat_of(given)), proposal(rounds.n()) {
    if (what.group->size() > kFewTasks) sharers.resize(rounds.n());
    if (!seat.has_value()) return;
    for (auto& window : windows) window.emplace(what, *seat);
  }
  Participant(const Participant&) = delete;
  Participant& operator=(const Participant&) = delete;

  // The window of an aggregator in `round`; two take turns. Null: this task is no aggregator.
  AggregatorWindow* window(std::size_t round) { return seat.has_value() ? &*windows[round % 2] : nullptr; }

  const TwoPhase& what;
  Rounds rounds;
  ExchangeClient client;
  NodeRelay relay;
  std::optional<std::size_t> seat;
  std::optional<AggregatorWindow> windows[2];
  RoundProposal proposal;
  std::vector<std::int64_t> sharers;
  bool has_repeated = false;
  TransferResult result;
};

// Collective. Counts the tasks with bytes in each domain.
Op<Status> count_sharers(Participant& task) {
  if (task.sharers.empty()) co_return Status{};
  std::vector<std::int64_t> mine;
  mine.swap(task.sharers);
  task.client.mark_domains(mine);
  TW_CO_ASSIGN_OR_RETURN(auto sharers, co_await task.what.group->allreduce(std::move(mine), Reduction::sum));
  task.client.set_sharers(std::move(sharers));
  co_return Status{};
}

// co_await: goes on from the driver, unless `passed`. Compilers make the return from one coroutine to another a jump,
// but not where sanitizers watch: there rounds in which no task has to wait would pile up on the stack.
WaitPoint from_driver(bool& passed) {
  return {[](void* subject) { return std::exchange(*static_cast<bool*>(subject), true); }, nullptr, &passed};
}

// Adds an aggregator's part of the proposal, from its window of the round before.
void propose_for(const AggregatorWindow& last, Participant& task) {
  task.proposal.set_reply_exchanges(last.n_slices());
  if (last.unreachable().ok()) return;
  if (task.has_repeated) {
    task.result.status = task.result.status.or_else(last.unreachable());
    return;
  }
  task.has_repeated = true;
  task.proposal.lowest(*task.seat) = static_cast<std::int64_t>(task.rounds.window(*task.seat).begin);
}

// Whether an aggregator may have to repeat a window: it does where it can not reach the memory of a task.
bool may_repeat(const TwoPhase& what) {
  const Place place = what.group->place();
  return !what.reads() && what.file().helpers->peers_reachable && place.processes > place.nodes;
}

// Whether one round moves everything, whichever task has which bytes: no task has more than its share of memory in
// messages then.
bool fits_one_round(const Participant& task) {
  const GroupAccess& access = *task.what.access;
  const AggregatorBudget budget = task.what.budget();
  const Place place = task.what.group->place();
  const std::uint64_t sharing = std::max<std::uint64_t>(access.tasks, task.rounds.n());
  // Runs of one task at equal distances are encoded as one, without addresses of other processes.
  const bool as_one = access.regular && place.processes == place.nodes;
  return task.rounds.fit_one_round() && access.most_bytes <= budget.window / task.rounds.n() &&
         access.pieces <= budget.encoded / kMostEncodedOfRun &&
         (as_one ? access.tasks : access.pieces) <= budget.encoded / sharing / kMostEncodedOfRun;
}

// Completes the proposal of a round without a message, if all tasks can compute it. They cannot where tasks have the
// same bytes, a window may be repeated, replies may take several exchanges, or runs are cut at stripes.
bool is_known(Participant& task, std::size_t round) {
  const GroupAccess& access = *task.what.access;
  if (access.common() || access.shape() == Shape::overlapping || may_repeat(task.what) || task.what.order.on())
    return false;
  if (access.reads() && access.bytes > task.what.budget().window) return false;
  if (round == 0) {
    if (!fits_one_round(task)) return false;
    task.rounds.propose_all(task.proposal);
  }
  task.proposal.set_reply_exchanges(1);
  return round == 0 || task.rounds.at_end();
}

// Collective unless all know the proposal. False: no task has a byte left. An error is equal on all tasks and ends the
// access.
Op<Result<bool>> open_round(Participant& task, std::size_t round) {
  bool passed = task.what.group->always_suspends();
  co_await from_driver(passed);
  task.client.propose(task.proposal);
  task.proposal.set_reply_exchanges(0);
  if (task.seat.has_value()) propose_for(*task.window(round + 1), task);
  if (!is_known(task, round)) {
    std::vector<std::int64_t>& numbers = task.proposal.numbers();
    TW_CO_ASSIGN_OR_RETURN(auto agreed, co_await task.what.group->allreduce(std::move(numbers), Reduction::min));
    numbers = std::move(agreed);
  }
  task.client.apply(task.proposal);
  co_return task.rounds.open(task.proposal);
}

// Loads and starts a window, unless something has failed before.
void load_window(Participant& task, AggregatorWindow& window, Messages requests) {
  Status& status = task.result.status;
  window.drop();
  if (!status.ok()) return;
  status = or_out_of_memory([&] { return window.load(task.rounds.window(*task.seat), std::move(requests)); });
  if (!status.ok()) return window.drop();
  if (window.unreachable().ok()) window.start();
}

// The messages that `make` makes; without memory none, and the failure is kept.
template <class Make>
Messages made_by(Participant& task, Make&& make) {
  Messages made;
  const Status status = or_out_of_memory([&] { made = make(); });
  task.result.status = task.result.status.or_else(status);
  return made;
}

// Collective. The requests for this task.
Op<Result<Messages>> send_requests(Participant& task) {
  Group& group = *task.what.group;
  const NodeRelay& relay = task.relay;
  Messages to_relays;
  Messages to_aggregators = made_by(task, [&] { return task.client.requests(relay, to_relays); });
  if (relay.on()) {
    TW_CO_ASSIGN_OR_RETURN(const auto passing, co_await group.exchange(std::move(to_relays)));
    to_aggregators = made_by(task, [&] {
      Messages all = relay.relay_requests(passing);
      std::move(to_aggregators.begin(), to_aggregators.end(), std::back_inserter(all));
      return all;
    });
  }
  co_return co_await group.exchange(std::move(to_aggregators));
}

// Collective. Replies come to their tasks.
Op<Status> send_replies(Participant& task, Messages replies) {
  Group& group = *task.what.group;
  TW_CO_ASSIGN_OR_RETURN(const auto received, co_await group.exchange(std::move(replies)));
  task.client.receive(received);
  if (!task.relay.on()) co_return Status{};
  Messages onward = made_by(task, [&] { return task.relay.relay_replies(received); });
  const auto relayed = co_await group.exchange(std::move(onward));
  if (relayed.has_value()) task.client.receive(relayed.value());
  co_return relayed.status();
}

// Collective. Requests go to the aggregators, which start to transfer their windows. A failure is equal on all tasks.
Op<Status> exchange_requests(Participant& task, std::size_t round) {
  TW_CO_ASSIGN_OR_RETURN(auto received, co_await send_requests(task));
  if (!task.seat.has_value()) co_return Status{};
  AggregatorWindow& window = *task.window(round);
  co_await window.idle();
  add_to(task.result, window.result());
  load_window(task, window, std::move(received));
  co_return Status{};
}

// Collective. The bytes read in `round` go to their tasks. A failure is equal on all tasks.
Op<Status> reply_to_clients(Participant& task, std::size_t round, std::int64_t exchanges) {
  std::uint64_t end = kEverything;
  AggregatorWindow* window = task.window(round);
  if (window != nullptr) {
    co_await window->idle();
    const TransferResult read = window->result();
    end = read.end_of_file;
    add_to(task.result, read);
  }
  for (std::int64_t i = 0; i < std::max<std::int64_t>(exchanges, 1); ++i) {
    bool passed = task.what.group->always_suspends();
    co_await from_driver(passed);
    Messages replies;
    if (window != nullptr && task.result.status.ok()) replies = made_by(task, [&] { return window->replies(end); });
    TW_CO_RETURN_IF_ERROR(co_await send_replies(task, std::move(replies)));
  }
  co_return Status{};
}

Op<Status> write_rounds(Participant& task) {
  for (std::size_t round = 0;; ++round) {
    const auto opened = co_await open_round(task, round);
    if (!opened.has_value() || !opened.value()) co_return opened.status();
    TW_CO_RETURN_IF_ERROR(co_await exchange_requests(task, round));
  }
}

// A window is read while the next one is asked for.
Op<Status> read_rounds(Participant& task) {
  for (std::size_t round = 0;; ++round) {
    TW_CO_ASSIGN_OR_RETURN(const auto opened, co_await open_round(task, round));
    const std::int64_t exchanges = task.proposal.reply_exchanges();
    Status status;
    if (opened) status = co_await exchange_requests(task, round);
    if (status.ok() && round > 0) status = co_await reply_to_clients(task, round - 1, exchanges);
    if (!status.ok() || !opened) co_return status;
  }
}

}  // namespace

Op<TransferResult> two_phase(TwoPhase what) {
  std::vector<Extent> cut;
  ExtentList ordered;
  std::optional<Participant> task;
  std::vector<Aggregator> in_rank_order;
  what.order = order_of(what);
  const auto prepare = [&]() -> Status {
    if (!what.known.empty()) what.known = order_by_rank(what.known.first(what.n_aggregators), in_rank_order);
    TW_RETURN_IF_ERROR(put_in_order(what, cut, ordered));
    task.emplace(what);
    return {};
  };
  Status ready;
  if (what.n_aggregators <= kFewAggregators && !what.order.on()) {
    ready = prepare();
  } else {
    ready = co_await agree(*what.group, or_out_of_memory(prepare));
  }
  if (ready.ok()) ready = co_await count_sharers(*task);
  if (!ready.ok()) co_return TransferResult{.status = std::move(ready)};
  const std::uint64_t sharers = task->client.most_sharers();
  task->relay = NodeRelay(what, sharers);
  if (task->relay.on() && what.group->rank() == 0)
    log_relay(what.file().stored->path(), sharers, what.group->place().nodes);
  Op<Status> rounds = what.reads() ? read_rounds(*task) : write_rounds(*task);
  const Status moved = co_await std::move(rounds);
  task->result.status = task->result.status.or_else(moved);
  for (auto& window : task->windows) {
    if (!window.has_value()) continue;
    co_await window->idle();
    add_to(task->result, window->result());
  }
  co_return std::move(task->result);
}

}  // namespace thalweg
