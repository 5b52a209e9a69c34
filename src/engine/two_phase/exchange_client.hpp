// ExchangeClient: a task's side of a two-phase access. What it has left, how far the next windows may reach so that it
// never has more than its share of memory in messages, its requests, and where replies belong.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/plan/aggregators.hpp"
#include "engine/two_phase/exchange_messages.hpp"
#include "engine/two_phase/node_relay.hpp"
#include "engine/two_phase/two_phase.hpp"
#include "group/group.hpp"

namespace thalweg {

// What goes out in a round.
struct Outgoing {
  std::vector<Message> to_relays;
  std::vector<Message> to_aggregators;
};

class ExchangeClient {
 public:
  // May throw std::bad_alloc; of the rest only requests() may.
  ExchangeClient(const TwoPhase& what, const Rounds& rounds);
  // 1 for each domain that this task has bytes in, else 0.
  void mark_domains(std::span<std::int64_t> has) const;
  // How many tasks have bytes in each domain; unless this is called, all tasks of the group may have.
  void set_sharers(std::vector<std::int64_t> sharers) { sharers_ = std::move(sharers); }
  std::uint64_t most_sharers() const;

  // For Rounds::open(): the lowest byte that is left in each domain, and where its next window has to end.
  void propose(std::span<std::int64_t> lowest, std::span<std::int64_t> ends);
  // What was said in that for all tasks: an aggregator that could not reach some memory gets it inline_data from now
  // on.
  void apply(std::span<const std::int64_t> ends);
  // What is for the aggregators in this round.
  Outgoing requests(const NodeRelay& relay) const;
  // Puts replies to the round before this one where they belong; passes over those for other tasks.
  void receive(const std::vector<Message>& replies);

 private:
  struct Ahead {
    std::uint64_t lowest = 0, end = 0;  // what was said last
    bool known = false;
    bool within_process = false;  // aggregators there need nobody's leave
    DataPath data_path = DataPath::inline_data;
  };
  void look_ahead(std::size_t i);
  std::uint64_t end_of(std::size_t i, std::uint64_t lowest) const;
  std::uint64_t sharers(std::size_t i) const;
  void receive_one(const ExchangeReply& reply);

  const TwoPhase& what_;
  const Rounds& rounds_;
  const AggregatorBudget budget_;
  std::vector<Ahead> ahead_;           // of each domain
  std::vector<std::int64_t> sharers_;  // empty: all tasks
  std::uint64_t n_mine_ = 0;           // domains with bytes of this task
};

}  // namespace thalweg
