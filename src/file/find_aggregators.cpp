#include "file/find_aggregators.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "group/agree.hpp"
#include "group/packing.hpp"
#include "group/relaying.hpp"
#include "os/peer_memory.hpp"

namespace thalweg {

namespace {

constexpr std::int64_t kMostNodes = 256;  // that have aggregators: 2 KiB on each task while they are looked for
constexpr std::int64_t kNobody = INT64_MAX;

using Aggregators = std::vector<Aggregator>;

bool is_among(const Aggregators& some, TaskRank rank) {
  return std::any_of(some.begin(), some.end(), [=](const Aggregator& one) { return one.rank == rank; });
}

// The leader of lowest rank of each node, of those that are not among `found` yet. Of many nodes only every so-many-th
// has any.
Op<Result<std::vector<std::int64_t>>> next_of_nodes(Group& group, const Aggregators& found, std::int64_t stride,
                                                    std::vector<std::int64_t> lowest) {
  const Place place = group.place();
  std::fill(lowest.begin(), lowest.end(), kNobody);
  const bool offers =
      group.rank() == place.process_leader && place.node % stride == 0 && !is_among(found, group.rank());
  if (offers) lowest[static_cast<std::size_t>(place.node / stride)] = group.rank();
  co_return co_await group.allreduce(std::move(lowest), Reduction::min);
}

Op<Result<Aggregators>> choose(Group& group, std::size_t wanted) {
  const Place place = group.place();
  const std::int64_t stride = (place.nodes + kMostNodes - 1) / kMostNodes;
  const std::int64_t nodes = (place.nodes + stride - 1) / stride;
  const std::size_t most = wanted > 0 ? wanted : static_cast<std::size_t>(nodes * kAggregatorsOfNode);
  const std::int64_t passes = wanted > 0 ? place.processes : kAggregatorsOfNode;
  Aggregators found;
  std::vector<std::int64_t> lowest;
  const Status room = co_await agree(group, or_out_of_memory([&] {
                                       found.reserve(most);
                                       lowest.resize(static_cast<std::size_t>(nodes));
                                       return Status{};
                                     }));
  if (!room.ok()) co_return room;
  for (std::int64_t pass = 0; pass < passes && found.size() < most; ++pass) {
    auto ranks = co_await next_of_nodes(group, found, stride, std::move(lowest));
    if (!ranks.has_value()) co_return ranks.error();
    lowest = std::move(ranks).value();
    const std::size_t before = found.size();
    for (std::size_t i = 0; i < lowest.size() && found.size() < most; ++i)
      if (lowest[i] != kNobody) found.push_back({lowest[i], static_cast<std::int64_t>(i) * stride});
    if (found.size() == before) break;
  }
  co_return found;
}

// Every process shows itself to the aggregators of its node.
std::vector<Message> probes(const Aggregators& aggregators, const Group& group) {
  const Place place = group.place();
  std::vector<Message> outgoing;
  if (group.rank() != place.process_leader) return outgoing;
  const PeerProbe mine = probe_of_this_process();
  for (const Aggregator& one : aggregators) {
    if (one.node != place.node || one.rank == group.rank()) continue;
    Bytes bytes(sizeof mine);
    std::memcpy(bytes.data(), &mine, sizeof mine);
    outgoing.push_back({one.rank, std::move(bytes)});
  }
  return outgoing;
}

bool all_reached(const std::vector<Message>& shown) {
  return std::all_of(shown.begin(), shown.end(), [](const Message& message) {
    PeerProbe peer;
    std::memcpy(&peer, message.data.data(), sizeof peer);
    return can_reach(peer);
  });
}

// Whether all aggregators reach the memory of all processes of their nodes. Who has no memory to show itself is not
// reached.
Op<Result<bool>> probe(Group& group, const Aggregators& aggregators) {
  std::vector<Message> outgoing;
  const Status made = or_out_of_memory([&] {
    outgoing = probes(aggregators, group);
    return Status{};
  });
  const auto shown = co_await group.exchange(std::move(outgoing));
  if (!shown.has_value()) co_return shown.error();
  std::vector<std::int64_t> reached(1, made.ok() && all_reached(shown.value()) ? 1 : 0);
  const auto all = co_await group.allreduce(std::move(reached), Reduction::min);
  if (!all.has_value()) co_return all.error();
  co_return all.value()[0] == 1;
}

struct NodeTasks {
  std::vector<TaskRank> leaders;
  std::int64_t tasks = 0;
};

Message numbers_to(TaskRank peer, const std::vector<std::int64_t>& numbers) {
  const ByteView bytes = view_of(numbers);
  return {peer, Bytes(bytes.begin(), bytes.end())};
}

// On the leader of a node: what it has heard from the leaders of processes, told to all of them.
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

// Leaders of processes tell that of their node, who tells all of them.
Op<Result<NodeTasks>> find_node_tasks(Group& group) {
  const Place place = group.place();
  const bool leads = group.rank() == place.process_leader;
  std::vector<Message> outgoing;
  Status status = or_out_of_memory([&] {
    if (leads) outgoing.push_back(numbers_to(place.node_leader, {place.tasks_in_process}));
    return Status{};
  });
  auto shown = co_await group.exchange(std::move(outgoing));
  if (!shown.has_value()) co_return shown.error();
  outgoing = {};
  if (status.ok())
    status = or_out_of_memory([&] {
      outgoing = told_to_all(shown.value());
      return Status{};
    });
  shown = co_await group.exchange(std::move(outgoing));
  if (!shown.has_value()) co_return shown.error();
  NodeTasks found;
  if (status.ok())
    status = or_out_of_memory([&] {
      if (shown.value().empty()) return Status{};
      found.leaders = numbers_of(shown.value()[0].data);
      found.tasks = found.leaders[0];
      found.leaders.erase(found.leaders.begin());
      return Status{};
    });
  status = co_await agree(group, std::move(status));
  if (!status.ok()) co_return status;
  co_return found;
}

}  // namespace

Op<Status> find_aggregators(Group& group, SharedFile& file) {
  const Place place = group.place();
  if (place.processes == 1 || relays_messages(group)) co_return Status{};
  auto found = co_await choose(group, file.strategy.aggregators);
  if (!found.has_value()) co_return found.error();
  const auto reached = co_await probe(group, found.value());
  if (!reached.has_value()) co_return reached.error();
  NodeTasks node;
  if (place.nodes > 1 && place.nodes < place.processes) {
    auto tasks = co_await find_node_tasks(group);
    if (!tasks.has_value()) co_return tasks.error();
    node = std::move(tasks).value();
  }
  if (group.rank() == place.process_leader) {
    file.node_leaders = std::move(node.leaders);
    file.tasks_of_node = node.tasks;
    file.aggregators = std::move(found).value();
    file.peers_reachable = reached.value();
  }
  co_return Status{};
}

}  // namespace thalweg
