// NodeRelay: small requests of a node's tasks for an aggregator on another node go there as one message, and its small
// replies come back as one, by way of a process of the node: the relay for this aggregator. So an aggregator hears
// of nodes, not of tasks. Known as intra-node request aggregation (Kang, Lee, Hou, Ross, Agrawal, Choudhary, Liao:
// Improving MPI Collective I/O for High Volume Non-contiguous Requests with Intra-node Aggregation, IEEE TPDS 2020).
#pragma once

#include <cstdint>
#include <vector>

#include "engine/two_phase/two_phase.hpp"
#include "group/group.hpp"

namespace thalweg {

// A part of a message, and who is to have it; borrows its bytes.
struct RelayPart {
  TaskRank to;
  ByteView bytes;
};
// One message for each receiver of `parts`, which has those for it in their order. May throw std::bad_alloc.
std::vector<Message> joined(std::vector<RelayPart> parts);

class NodeRelay {
 public:
  NodeRelay() = default;  // off
  // `sharers`: how many tasks have bytes in the domain in which most have. Whether it is on is the same on all tasks.
  NodeRelay(const TwoPhase& what, std::uint64_t sharers);

  bool on() const { return on_; }
  // Of one request, and of one reply, so that what passes through a task is within its budget; 0: nothing may.
  std::uint64_t most_bytes() const { return most_; }
  // Who forwards what this node has for this aggregator; -1: it goes there directly.
  TaskRank relay_to(std::size_t aggregator) const;

  // What a relay passes on: requests to their aggregators, replies to their tasks. May throw std::bad_alloc.
  std::vector<Message> relay_requests(const std::vector<Message>& received) const;
  std::vector<Message> relay_replies(const std::vector<Message>& received) const;

 private:
  const TwoPhase* what_ = nullptr;
  bool on_ = false;
  std::uint64_t most_ = 0;
};

}  // namespace thalweg
