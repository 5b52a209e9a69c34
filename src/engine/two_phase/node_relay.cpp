#include "engine/two_phase/node_relay.hpp"

#include <algorithm>
#include <utility>

#include "engine/two_phase/exchange_messages.hpp"

namespace thalweg {

namespace {

std::uint64_t rounded_up(std::uint64_t all, std::uint64_t part) { return (all + part - 1) / part; }

// What one message may have, where `tasks` of a node share `relays`.
std::uint64_t share_of_passing(const TwoPhase& what, std::uint64_t tasks, std::uint64_t relays) {
  return what.budget().relayed / (tasks * rounded_up(what.n_aggregators, relays));
}

// By numbers that all tasks know. Messages of the threads of a process go as one anyway.
bool pays(const TwoPhase& what, std::uint64_t sharers) {
  const Place place = what.group->place();
  const auto tasks = static_cast<std::uint64_t>(what.group->size());
  RelayCase input;
  input.nodes = static_cast<std::uint64_t>(place.nodes);
  input.processes = static_cast<std::uint64_t>(place.processes);
  input.senders = std::min(sharers, input.processes);
  const std::uint64_t domain = (what.range.end - what.range.begin) / what.n_aggregators;
  input.message_bytes = std::min(domain, what.budget().window) / sharers;
  input.most_bytes = share_of_passing(what, rounded_up(tasks, input.nodes), rounded_up(input.processes, input.nodes));
  return pays_to_relay(input, what.file->strategy.costs);
}

}  // namespace

std::vector<Message> joined(std::vector<RelayPart> parts) {
  std::stable_sort(parts.begin(), parts.end(), [](const RelayPart& a, const RelayPart& b) { return a.to < b.to; });
  std::vector<Message> messages;
  for (auto first = parts.begin(); first != parts.end();) {
    std::size_t bytes = 0;
    auto end = first;
    for (; end != parts.end() && end->to == first->to; ++end) bytes += end->bytes.size();
    Message& message = messages.emplace_back(Message{first->to, {}});
    message.data.reserve(bytes);
    for (; first != end; ++first) message.data.insert(message.data.end(), first->bytes.begin(), first->bytes.end());
  }
  return messages;
}

NodeRelay::NodeRelay(const TwoPhase& what, std::uint64_t sharers) : what_(&what) {
  const Place place = what.group->place();
  if (place.nodes == 1 || place.nodes == place.processes || what.known.empty()) return;
  on_ = what.file->strategy.node_relay.value_or(pays(what, sharers));
  const std::size_t relays = what.file->helpers->node_leaders.size();
  if (!on_ || relays < 2) return;
  most_ = share_of_passing(what, static_cast<std::uint64_t>(what.file->helpers->tasks_of_node), relays);
}

TaskRank NodeRelay::relay_to(std::size_t aggregator) const {
  if (most_ == 0 || what_->aggregator(aggregator).node == what_->group->place().node) return -1;
  const auto& leaders = what_->file->helpers->node_leaders;
  return leaders[leaders.size() - 1 - aggregator % leaders.size()];  // the first ones aggregate
}

std::vector<Message> NodeRelay::relay_requests(const std::vector<Message>& received) const {
  std::vector<RelayPart> parts;
  for (const Message& message : received)
    for_each_of<ExchangeRequest>(message.data, [&](const ExchangeRequest& request) {
      parts.push_back({what_->aggregator(request.header.aggregator).rank, request.whole});
    });
  return joined(std::move(parts));
}

std::vector<Message> NodeRelay::relay_replies(const std::vector<Message>& received) const {
  std::vector<RelayPart> parts;
  for (const Message& message : received)
    for_each_of<ExchangeReply>(message.data, [&](const ExchangeReply& reply) {
      if (reply.header.task != what_->group->rank()) parts.push_back({reply.header.task, reply.whole});
    });
  return joined(std::move(parts));
}

}  // namespace thalweg
