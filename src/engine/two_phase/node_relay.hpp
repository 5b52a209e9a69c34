// NodeRelay: small requests of a node's tasks for an aggregator on another node go there as one message, and its small
// replies come back as one, by way of one process of the node: the relay for this aggregator. So an aggregator has a
// message from each node, not from each task. Known as intra-node request aggregation (Kang, Lee, Hou, Ross, Agrawal,
// Choudhary, Liao: Improving MPI Collective I/O for High Volume Non-contiguous Requests with Intra-node Aggregation,
// IEEE TPDS 2020).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/two_phase/two_phase.hpp"

namespace thalweg {

// Processes of several nodes that send to the aggregator to which most send.
struct RelayCase {
  std::uint64_t nodes = 1;
  std::uint64_t processes = 1;      // of all nodes
  std::uint64_t senders = 1;        // of these processes
  std::uint64_t message_bytes = 0;  // of each message
  std::uint64_t most_bytes = 0;     // of a message that may go through a relay
};
// Whether it is cheaper to put the messages of a node together, in one more exchange of each round.
bool pays_to_relay(const RelayCase& input, const StorageCosts& costs);

class NodeRelay {
 public:
  NodeRelay() = default;  // off
  // `sharers`: number of tasks with bytes in the domain that most tasks share. All tasks agree on whether it is on.
  NodeRelay(const TwoPhase& what, std::uint64_t sharers);

  bool on() const { return on_; }
  // The largest request, and the largest reply, that may go through a relay, so that it keeps within its budget.
  std::uint64_t most_bytes() const { return most_; }
  // The relay of this node for an aggregator; none: messages go there directly.
  std::optional<TaskRank> relay_to(std::size_t aggregator) const;

  // The messages that this task passes on as a relay: requests to their aggregators, replies to their tasks. May throw
  // std::bad_alloc.
  std::vector<Message> relay_requests(const std::vector<Message>& received) const;
  std::vector<Message> relay_replies(const std::vector<Message>& received) const;

 private:
  const TwoPhase* what_ = nullptr;
  bool on_ = false;
  std::uint64_t most_ = 0;  // 0: every message goes directly
};

}  // namespace thalweg
