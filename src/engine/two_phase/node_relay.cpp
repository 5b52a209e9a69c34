#include "engine/two_phase/node_relay.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "engine/two_phase/exchange_messages.hpp"
#include "group/memory.hpp"

namespace thalweg {

namespace {

std::uint64_t rounded_up(std::uint64_t all, std::uint64_t part) { return (all + part - 1) / part; }

// Bytes that one message may have, where `tasks` of a node share `relays`.
std::uint64_t most_relayed(const TwoPhase& what, std::uint64_t tasks, std::uint64_t relays) {
  return what.budget().relayed / (tasks * rounded_up(what.n_aggregators, relays));
}

// Decided from numbers that are equal on all tasks. Messages of the threads of a process go as one anyway.
bool pays(const TwoPhase& what, std::uint64_t sharers) {
  const Place place = what.group->place();
  const auto tasks = static_cast<std::uint64_t>(what.group->size());
  RelayCase input;
  input.nodes = static_cast<std::uint64_t>(place.nodes);
  input.processes = static_cast<std::uint64_t>(place.processes);
  input.senders = std::min(sharers, input.processes);
  const std::uint64_t domain = (what.access->end - what.access->begin) / what.n_aggregators;
  input.message_bytes = std::min(domain, what.budget().window) / sharers;
  input.most_bytes = most_relayed(what, rounded_up(tasks, input.nodes), rounded_up(input.processes, input.nodes));
  return pays_to_relay(input, what.file().strategy.costs);
}

}  // namespace

// The exchange is half of the collectives of a round. Relayed messages still come from each node, and from each process
// of the aggregator's own.
bool pays_to_relay(const RelayCase& input, const StorageCosts& costs) {
  const std::uint64_t of_node = rounded_up(input.processes, input.nodes);
  if (input.message_bytes > input.most_bytes || input.senders <= input.nodes + of_node) return false;
  const double spared_ns = static_cast<double>(input.senders - input.nodes - of_node) * costs.message_ns;
  return spared_ns > costs.round_ns / 2 * static_cast<double>(std::bit_width(input.processes));
}

NodeRelay::NodeRelay(const TwoPhase& what, std::uint64_t sharers) : what_(&what) {
  const Place place = what.group->place();
  if (place.nodes == 1 || place.nodes == place.processes || what.known.empty()) return;
  on_ = what.file().strategy.node_relay.value_or(pays(what, sharers));
  const std::size_t relays = what.file().helpers->node_leaders.size();
  if (!on_ || relays < 2) return;
  most_ = most_relayed(what, static_cast<std::uint64_t>(what.file().helpers->tasks_of_node), relays);
}

std::optional<TaskRank> NodeRelay::relay_to(std::size_t aggregator) const {
  if (most_ == 0 || what_->aggregator(aggregator).node == what_->group->place().node) return {};
  const auto& leaders = what_->file().helpers->node_leaders;
  return leaders[leaders.size() - 1 - aggregator % leaders.size()];  // the first ones aggregate
}

std::vector<Message> NodeRelay::relay_requests(const std::vector<Message>& received) const {
  std::map<TaskRank, Bytes> onward;
  for (const Message& message : received)
    for_each_of<ExchangeRequest>(message.data, [&](const ExchangeRequest& request) {
      put_bytes(onward[what_->aggregator(request.header.aggregator).rank], request.whole);
    });
  return messages_of(std::move(onward));
}

std::vector<Message> NodeRelay::relay_replies(const std::vector<Message>& received) const {
  std::map<TaskRank, Bytes> onward;
  for (const Message& message : received)
    for_each_of<ExchangeReply>(message.data, [&](const ExchangeReply& reply) {
      if (reply.header.task != what_->group->rank()) put_bytes(onward[reply.header.task], reply.whole);
    });
  return messages_of(std::move(onward));
}

}  // namespace thalweg
