#include "sharedfile/find_aggregators.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/wire.hpp"
#include "group/agree.hpp"
#include "os/peer_memory.hpp"

namespace thalweg {

namespace {

constexpr std::int64_t kMostNodes = 256;  // nodes that have aggregators: 2 KiB on each task during the search
constexpr std::int64_t kNobody = INT64_MAX;

using Aggregators = std::vector<Aggregator>;

constexpr char kHelpersKey = 0;  // its address is the key of the Helpers that the group caches

bool is_among(const Aggregators& some, TaskRank rank) {
  return std::any_of(some.begin(), some.end(), [=](const Aggregator& one) { return one.rank == rank; });
}

// The process leader of lowest rank on each node, among those not in `found` yet. Above kMostNodes, only every
// `stride`-th node has any.
Op<Result<std::vector<std::int64_t>>> next_of_nodes(Group& group, const Aggregators& found, std::int64_t stride,
                                                    std::vector<std::int64_t> lowest) {
  const Place place = group.place();
  std::fill(lowest.begin(), lowest.end(), kNobody);
  const bool offers =
      group.rank() == place.process_leader && place.node % stride == 0 && !is_among(found, group.rank());
  if (offers) lowest[static_cast<std::size_t>(place.node / stride)] = group.rank();
  co_return co_await group.allreduce(std::move(lowest), Reduction::min);
}

// All memory of the result is allocated first.
Op<Status> choose(Group& group, std::size_t wanted, std::shared_ptr<Helpers>& into) {
  const Place place = group.place();
  const std::int64_t stride = (place.nodes + kMostNodes - 1) / kMostNodes;
  const std::int64_t nodes = (place.nodes + stride - 1) / stride;
  const auto processes = static_cast<std::size_t>(place.processes);
  const std::size_t most =
      std::min(wanted > 0 ? wanted : static_cast<std::size_t>(nodes * kAggregatorsOfNode), processes);
  const std::int64_t passes = wanted > 0 ? place.processes : kAggregatorsOfNode;
  std::vector<std::int64_t> lowest;
  const Status room = co_await agree(group, or_out_of_memory([&] {
                                       into = std::make_shared<Helpers>();
                                       into->wanted = wanted;
                                       into->aggregators.reserve(most);
                                       lowest.resize(static_cast<std::size_t>(nodes));
                                     }));
  if (!room.ok()) co_return room;
  Aggregators& found = into->aggregators;
  for (std::int64_t pass = 0; pass < passes && found.size() < most; ++pass) {
    TW_CO_ASSIGN_OR_RETURN(auto ranks, co_await next_of_nodes(group, found, stride, std::move(lowest)));
    lowest = std::move(ranks);
    const std::size_t before = found.size();
    for (std::size_t i = 0; i < lowest.size() && found.size() < most; ++i)
      if (lowest[i] != kNobody) found.push_back({lowest[i], static_cast<std::int64_t>(i) * stride});
    if (found.size() == before) break;
  }
  co_return Status{};
}

// Every process sends a probe of its memory to the aggregators of its node.
std::vector<Message> probes(const Aggregators& aggregators, const Group& group) {
  const Place place = group.place();
  std::vector<Message> outgoing;
  if (group.rank() != place.process_leader) return outgoing;
  const PeerProbe mine = probe_of_this_process();
  for (const Aggregator& one : aggregators) {
    if (one.node != place.node || one.rank == group.rank()) continue;
    put_value(outgoing.emplace_back(Message{one.rank, {}}).data, mine);
  }
  return outgoing;
}

// Agrees whether all aggregators reach the memory of all processes of their nodes.
Op<Status> probe(Group& group, Helpers& found) {
  TW_CO_ASSIGN_OR_RETURN(const auto shown, co_await group.exchange(probes(found.aggregators, group)));
  const bool all_reached = std::ranges::all_of(shown, [](const Message& message) {
    ByteView probe = message.data;
    return can_reach(take_value<PeerProbe>(probe));
  });
  std::vector<std::int64_t> reached(1, all_reached ? 1 : 0);
  TW_CO_ASSIGN_OR_RETURN(const auto all, co_await group.allreduce(std::move(reached), Reduction::min));
  found.peers_reachable = all[0] == 1;
  co_return Status{};
}

Message numbers_to(TaskRank peer, const std::vector<std::int64_t>& numbers) {
  const ByteView bytes = view_of(numbers);
  return {peer, Bytes(bytes.begin(), bytes.end())};
}

// On the leader of a node: joins what the process leaders sent, for all of them.
std::vector<Message> told_to_all(const std::vector<Message>& shown) {
  std::vector<std::int64_t> numbers(1);
  for (const Message& message : shown) {
    numbers[0] += numbers_of(message.data)[0];
    numbers.push_back(message.peer);
  }
  std::vector<Message> outgoing;
  outgoing.reserve(shown.size());
  for (const Message& message : shown) outgoing.push_back(numbers_to(message.peer, numbers));
  return outgoing;
}

// Process leaders send their number of tasks to the leader of their node, which answers with those of all.
Op<Status> find_node_tasks(Group& group, Helpers& found) {
  const Place place = group.place();
  const bool leads = group.rank() == place.process_leader;
  std::vector<Message> outgoing;
  if (leads) outgoing.push_back(numbers_to(place.node_leader, {place.tasks_in_process}));
  TW_CO_ASSIGN_OR_RETURN(const auto shown, co_await group.exchange(std::move(outgoing)));
  outgoing = {};
  Status status = or_out_of_memory([&] { outgoing = told_to_all(shown); });
  TW_CO_ASSIGN_OR_RETURN(const auto told, co_await group.exchange(std::move(outgoing)));
  if (status.ok() && !told.empty())
    status = or_out_of_memory([&] {
      found.node_leaders = numbers_of(told[0].data);
      found.tasks_of_node = found.node_leaders[0];
      found.node_leaders.erase(found.node_leaders.begin());
    });
  co_return co_await agree(group, std::move(status));
}

Op<Status> look(Group& group, std::size_t wanted, std::shared_ptr<Helpers>& found) {
  const Place place = group.place();
  TW_CO_RETURN_IF_ERROR(co_await choose(group, wanted, found));
  TW_CO_RETURN_IF_ERROR(co_await probe(group, *found));
  if (place.nodes > 1 && place.nodes < place.processes) co_return co_await find_node_tasks(group, *found);
  co_return Status{};
}

}  // namespace

Op<Status> find_aggregators(Group& group, SharedFile& file) {
  const Place place = group.place();
  if (place.processes == 1 || group.relays()) co_return Status{};
  const std::size_t wanted = file.strategy.aggregators;  // the hint of task 0
  const bool leads = group.rank() == place.process_leader;
  auto here = std::static_pointer_cast<Helpers>(group.kept(&kHelpersKey));
  if (here == nullptr || here->wanted != wanted) {
    TW_CO_RETURN_IF_ERROR(co_await look(group, wanted, here));
    if (!leads) *here = {.wanted = wanted};  // only the leader of a process needs the others
    group.keep(&kHelpersKey, here);
  }
  if (leads) file.helpers = std::move(here);
  co_return Status{};
}

}  // namespace thalweg
