#include "file/find_aggregators.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "os/peer_memory.hpp"

namespace thalweg {

namespace {

constexpr std::int64_t kMostSlots = 64;    // at a time: a few hundred bytes on each task, of however many
constexpr std::size_t kDefaultOfNode = 4;  // more writers of one node are of no use to any storage we know
constexpr std::int64_t kNobody = INT64_MAX;

// Nodes share a slot where there are more of them.
std::int64_t slot_of(const Place& place, std::int64_t slots) { return place.node * slots / place.nodes; }

bool is_among(const std::vector<Aggregator>& some, TaskRank rank) {
  return std::any_of(some.begin(), some.end(), [=](const Aggregator& one) { return one.rank == rank; });
}

bool is_chosen(const std::vector<std::int64_t>& ranks, TaskRank rank) {
  return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

// Every process shows itself to the first aggregator of its node, if that is another process.
std::vector<Message> probes(const std::vector<Aggregator>& aggregators, const Group& group) {
  const Place place = group.place();
  std::vector<Message> outgoing;
  if (group.rank() != place.process_leader) return outgoing;
  const auto is_here = [&](const Aggregator& one) { return one.node == place.node; };
  const auto first = std::find_if(aggregators.begin(), aggregators.end(), is_here);
  if (first == aggregators.end() || first->rank == group.rank()) return outgoing;
  const PeerProbe mine = probe_of_this_process();
  Bytes bytes(sizeof mine);
  std::memcpy(bytes.data(), &mine, sizeof mine);
  outgoing.push_back({first->rank, std::move(bytes)});
  return outgoing;
}

bool all_reached(const std::vector<Message>& shown) {
  return std::all_of(shown.begin(), shown.end(), [](const Message& message) {
    PeerProbe peer;
    std::memcpy(&peer, message.data.data(), sizeof peer);
    return can_reach(peer);
  });
}

}  // namespace

Op<Status> find_aggregators(Group& group, SharedFile& file) {
  const Place place = group.place();
  if (place.processes == 1) co_return Status{};
  const std::int64_t slots = std::min(place.nodes, kMostSlots);
  const auto wanted = static_cast<std::size_t>(place.nodes) * kDefaultOfNode;
  const std::size_t most = file.strategy.aggregators > 0 ? file.strategy.aggregators : wanted;
  std::vector<Aggregator> found;
  while (found.size() < most && found.size() < static_cast<std::size_t>(place.processes)) {
    std::vector<std::int64_t> lowest(static_cast<std::size_t>(slots), kNobody);
    const bool offers = group.rank() == place.process_leader && !is_among(found, group.rank());
    if (offers) lowest[static_cast<std::size_t>(slot_of(place, slots))] = group.rank();
    const auto agreed = co_await group.allreduce(std::move(lowest), Reduction::min);
    if (!agreed.has_value()) co_return agreed.error();
    std::vector<std::int64_t> nodes(static_cast<std::size_t>(slots), kNobody);
    if (offers && is_chosen(agreed.value(), group.rank()))
      nodes[static_cast<std::size_t>(slot_of(place, slots))] = place.node;
    const auto of_nodes = co_await group.allreduce(std::move(nodes), Reduction::min);
    if (!of_nodes.has_value()) co_return of_nodes.error();
    const std::size_t before = found.size();
    for (std::size_t i = 0; i < agreed.value().size() && found.size() < most; ++i)
      if (agreed.value()[i] != kNobody) found.push_back({agreed.value()[i], of_nodes.value()[i]});
    if (found.size() == before) break;
  }
  auto shown = co_await group.exchange(probes(found, group));
  if (!shown.has_value()) co_return shown.error();
  std::vector<std::int64_t> reached(1, all_reached(shown.value()) ? 1 : 0);
  const auto all = co_await group.allreduce(std::move(reached), Reduction::min);
  if (!all.has_value()) co_return all.error();
  if (group.rank() == place.process_leader) {
    file.aggregators = std::move(found);
    file.peers_reachable = all.value()[0] == 1;
  }
  co_return Status{};
}

}  // namespace thalweg
