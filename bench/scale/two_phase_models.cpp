#include "scale/two_phase_models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "engine/plan/aggregators.hpp"
#include "plan/counting_new.hpp"
#include "sim/memory_backend.hpp"
#include "sim/sim_network.hpp"
#include "sim/sim_storage.hpp"
#include "support/clock.hpp"
#include "support/scratch.hpp"

namespace bench {

namespace {

using thalweg::SimLedger;
using thalweg::SimMessage;
using Messages = std::vector<SimMessage>;

constexpr std::uint64_t kBuffer = std::uint64_t{16} << 20;  // cb_buffer_size of ROMIO
constexpr std::uint64_t kCount = 4;                         // bytes of a number in an alltoall
constexpr std::uint64_t kExtent = 16;                       // offset and length of a piece
constexpr std::int64_t kMostAggregators = 256;              // of the library, which places them one per node first
constexpr std::uint64_t kAggregatorMemory = std::uint64_t{16} << 20;  // its default
constexpr std::size_t kLongReduction = 256;  // numbers: from so many on by halves, which takes twice the messages

std::int64_t aggregators_of(const ManyNodes& what) { return std::min(what.nodes, kMostAggregators); }

std::uint64_t file_bytes(const ManyNodes& what) {
  return static_cast<std::uint64_t>(what.tasks()) * what.pieces.bytes_of_task();
}

// Aggregators have whole stripes.
std::vector<thalweg::FileDomain> domains_of(const ManyNodes& what, std::int64_t aggregators) {
  return thalweg::even_domains({0, file_bytes(what)}, static_cast<std::size_t>(aggregators),
                               thalweg::SimStorageCosts{}.stripe_bytes);
}

// Calls visit(task, domain, offset within it) for each piece; no piece crosses a border.
template <class Visit>
void for_each_piece(const ManyNodes& what, const std::vector<thalweg::FileDomain>& domains, Visit&& visit) {
  const std::uint64_t share = domains[0].end;
  for (std::int64_t task = 0; task < what.tasks(); ++task)
    for (std::uint64_t i = 0; i < what.pieces.count; ++i) {
      const std::uint64_t offset = what.pieces.offset(i, task, what.tasks());
      visit(task, offset / share, offset % share);
    }
}

// Network and storage with clocks that begin at 0.
class Model {
 public:
  Model(const ManyNodes& what, TwoPhaseWay way)
      : what_(what),
        way_(way),
        domains_(domains_of(what, what.nodes)),
        players_(way == TwoPhaseWay::by_rank ? what.tasks() : what.nodes),
        spacing_(what.tasks() / players_) {
    ledger_.tasks.resize(static_cast<std::size_t>(what.tasks()));
    const thalweg::SimOptions options{.tasks = what.tasks(), .processes_per_node = kTasksPerNode};
    network_ = std::make_unique<thalweg::SimNetwork>(options, thalweg::SimCosts{}, ledger_);
    storage_ = thalweg::SimStorage::make(thalweg::make_hollow_backend(), {}, ledger_);
  }

  CountedCost write() {
    if (way_ == TwoPhaseWay::by_node) aggregate_on_nodes();
    tell_ranges();
    tell_counts();
    tell_extents();
    const std::size_t rounds = count_rounds();
    for (std::size_t round = 0; round < rounds; ++round) {
      tell_counts();
      network_->pass(data_of(round));
      store(round);
    }
    return cost();
  }

 private:
  std::int64_t player(std::int64_t i) const { return i * spacing_; }
  // The aggregators are the first ranks of the nodes.
  static std::int64_t aggregator(std::size_t domain) { return static_cast<std::int64_t>(domain) * kTasksPerNode; }
  std::int64_t player_of(std::int64_t task) const { return task / spacing_ * spacing_; }

  // Offsets, lengths and bytes of each rank go to the first one of its node.
  void aggregate_on_nodes() {
    Messages messages;
    const std::uint64_t bytes = what_.pieces.bytes_of_task() + kExtent * what_.pieces.count;
    for (std::int64_t task = 0; task < what_.tasks(); ++task)
      if (player_of(task) != task) messages.push_back({task, player_of(task), bytes});
    network_->pass(std::move(messages));
  }
  // MPI_Allgather of begin and end, by recursive doubling.
  void tell_ranges() {
    for (std::int64_t distance = 1; distance < players_; distance *= 2) {
      Messages messages;
      for (std::int64_t i = 0; i < players_; ++i)
        messages.push_back({player(i), player(i ^ distance), kExtent * static_cast<std::uint64_t>(distance)});
      network_->pass(std::move(messages));
    }
  }
  // MPI_Alltoall of a number, by the algorithm for short messages (Bruck et al. 1997).
  void tell_counts() {
    for (std::int64_t distance = 1; distance < players_; distance *= 2) {
      Messages messages;
      for (std::int64_t i = 0; i < players_; ++i)
        messages.push_back(
            {player(i), player((i + distance) % players_), kCount * static_cast<std::uint64_t>(players_) / 2});
      network_->pass(std::move(messages));
    }
  }
  // One message from each player to each aggregator for all that they have in common.
  template <class BytesOf>
  Messages joined(BytesOf&& bytes_of) const {
    Messages messages;
    for_each_piece(what_, domains_, [&](std::int64_t task, std::size_t domain, std::uint64_t place) {
      const std::uint64_t bytes = bytes_of(place);
      if (bytes > 0 && player_of(task) != aggregator(domain))
        messages.push_back({player_of(task), aggregator(domain), bytes});
    });
    const auto pair = [](const SimMessage& message) { return std::pair(message.from, message.to); };
    std::ranges::sort(messages, {}, pair);
    std::size_t n = 0;
    for (const SimMessage& message : messages) {
      if (n > 0 && pair(messages[n - 1]) == pair(message)) {
        messages[n - 1].bytes += message.bytes;
      } else {
        messages[n++] = message;
      }
    }
    messages.resize(n);
    return messages;
  }
  void tell_extents() {
    network_->pass(joined([](std::uint64_t) { return kExtent; }));
  }
  Messages data_of(std::size_t round) const {
    return joined([&](std::uint64_t place) { return place / kBuffer == round ? what_.pieces.bytes : 0; });
  }
  // MPI_Allreduce of the number of rounds.
  std::size_t count_rounds() {
    network_->allreduce(kCount);
    return static_cast<std::size_t>((domains_[0].end + kBuffer - 1) / kBuffer);
  }
  void store(std::size_t round) {
    for (std::size_t i = 0; i < domains_.size(); ++i) {
      const std::uint64_t begin = domains_[i].begin + round * kBuffer;
      if (begin >= domains_[i].end) continue;
      double& clock = ledger_.tasks[static_cast<std::size_t>(aggregator(i))].clock_ns;
      clock = storage_->transfer(clock, thalweg::Direction::write, static_cast<std::int64_t>(i), 0, begin,
                                 std::min(kBuffer, domains_[i].end - begin));
    }
  }
  CountedCost cost() const {
    CountedCost cost;
    cost.tasks = what_.tasks();
    for (const thalweg::SimTask& task : ledger_.tasks) {
      cost.seconds = std::max(cost.seconds, task.clock_ns * 1e-9);
      cost.messages += static_cast<double>(task.messages);
      cost.messages_most = std::max(cost.messages_most, static_cast<double>(task.messages));
    }
    cost.messages_mean = cost.messages / static_cast<double>(cost.tasks);
    return cost;
  }

  const ManyNodes& what_;
  const TwoPhaseWay way_;
  const std::vector<thalweg::FileDomain> domains_;
  const std::int64_t players_, spacing_;  // every so many ranks one plays two-phase
  SimLedger ledger_;
  std::unique_ptr<thalweg::SimNetwork> network_;
  std::shared_ptr<thalweg::SimStorage> storage_;
};

}  // namespace

CountedCost two_phase_model(const ManyNodes& what, TwoPhaseWay way) {
  const double started = now();
  CountedCost cost = Model(what, way).write();
  cost.simulated_in = now() - started;
  return cost;
}

CountedCost two_phase_of_library(const ManyNodes& what, const std::string& node_relay) {
  begin_counting();
  thalweg::SimulatedMachine machine(what.tasks(), thalweg::SimulatedBytes::forgotten);
  thalweg::SimulatedSharedFile file(machine, what.pieces,
                                    fmt::format("method=aggregate,aggregators={},aggregator_bytes={},node_relay={}",
                                                aggregators_of(what), kAggregatorMemory, node_relay));
  cost_of([&] { return file.open(); });
  CountedCost cost;
  static_cast<Cost&>(cost) = cost_of([&] { return file.move(thalweg::Direction::write); });
  cost.messages = cost.messages_mean * static_cast<double>(cost.tasks);
  return cost;
}

// Ranks are a power of two above 16, so that reductions double recursively and exchanges are sparse:
//   fold                                          2 (p - 1)
//   agreement on memory, and in the end      a reduction each
//   sharers, proposals of R + 1 rounds       a reduction of more numbers each
//   exchange of a round                      a barrier, a reduction, three messages for each request to another rank
double messages_of_library(const ManyNodes& what) {
  const auto p = static_cast<double>(what.tasks());
  const double steps = std::countr_zero(static_cast<std::uint64_t>(what.tasks()));
  const std::uint64_t window = thalweg::AggregatorBudget(kAggregatorMemory).window;
  const auto domains = domains_of(what, aggregators_of(what));
  const auto reduction = [&](std::size_t numbers) { return (numbers < kLongReduction ? 1 : 2) * p * steps; };
  std::map<std::pair<std::size_t, std::uint64_t>, std::int64_t> last;  // by domain and round: the last task that sends
  double requests = 0;
  for_each_piece(what, domains, [&](std::int64_t task, std::size_t domain, std::uint64_t place) {
    const std::int64_t stride = (what.nodes + kMostAggregators - 1) / kMostAggregators;
    const std::int64_t aggregator = static_cast<std::int64_t>(domain) * stride * kTasksPerNode;
    const auto found = last.try_emplace({domain, place / window}, -1).first;
    if (std::exchange(found->second, task) != task && task != aggregator) ++requests;
  });
  const auto rounds = static_cast<double>((domains[0].end + window - 1) / window);
  const std::size_t n = domains.size();
  return 2 * (p - 1) + 2 * reduction(1) + reduction(n) + (rounds + 1) * reduction(2 * n + 1) +
         rounds * 2 * reduction(1) + 3 * requests;
}

}  // namespace bench
