// ExchangeClient: a task's side of the exchange phase: which bytes it has left, how far the next windows may reach so
// that it never has more than its share of memory in messages, its requests, and where the bytes of replies belong.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/two_phase/exchange_messages.hpp"
#include "engine/two_phase/node_relay.hpp"
#include "engine/two_phase/two_phase.hpp"

namespace thalweg {

class ExchangeClient {
 public:
  // May throw std::bad_alloc; later only requests() may.
  ExchangeClient(const TwoPhase& what, const Rounds& rounds);
  // 1 for each domain that this task has bytes in, else 0.
  void mark_domains(std::span<std::int64_t> has) const;
  // Sets the number of tasks with bytes in each domain; without this call all tasks of the group count.
  void set_sharers(std::vector<std::int64_t> sharers) { sharers_ = std::move(sharers); }
  std::uint64_t most_sharers() const;

  // The lowest byte that is left in each domain, and where its next window has to end.
  void propose(RoundProposal& proposal);
  // Applies the proposal of all tasks: an aggregator that repeats its window could not reach some task's memory, and
  // gets inline data from now on.
  void apply(const RoundProposal& all);
  // The messages to aggregators in this round, and those that go through relays.
  std::vector<Message> requests(const NodeRelay& relay, std::vector<Message>& to_relays) const;
  // Copies the replies to the round before this one into the task's memory; passes over those for other tasks.
  void receive(const std::vector<Message>& replies);

 private:
  // The last proposal of this task for a domain.
  struct Ahead {
    std::uint64_t lowest = 0, end = 0;
    bool known = false;
    bool within_process = false;  // the aggregator is in this process, and reaches any memory
    DataPath data_path = DataPath::inline_data;
  };
  void look_ahead(std::size_t i);
  std::uint64_t end_of(std::size_t i, std::uint64_t lowest) const;
  std::uint64_t sharers(std::size_t i) const;
  void send_inline(std::size_t i);
  void receive_one(const ExchangeReply& reply);

  const TwoPhase& what_;
  const Rounds& rounds_;
  const AggregatorBudget budget_;
  std::vector<Ahead> ahead_;           // of each domain
  std::vector<std::int64_t> sharers_;  // empty: all tasks
  std::uint64_t n_mine_ = 0;           // domains with bytes of this task
};

}  // namespace thalweg
