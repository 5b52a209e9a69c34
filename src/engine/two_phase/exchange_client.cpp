#include "engine/two_phase/exchange_client.hpp"

#include <algorithm>
#include <cstring>
#include <map>

#include "group/memory.hpp"

namespace thalweg {

namespace {

constexpr std::uint64_t kLeastRemote = 512;  // bytes of an extent: longer ones are quicker read where they lie
constexpr std::uint64_t kNone = Rounds::kNone;

// Whether an aggregator copies from and to remote memory more quickly than it takes inline data: it does when extents
// are long, or nearly all of them can be copied together (two_phase/peer_copy.hpp).
bool remote_memory_pays(const ExtentList& list) {
  const auto extents = list.extents();
  if (list.summary().bytes >= list.summary().n * kLeastRemote) return true;
  std::size_t n_together = 0;
  for (std::size_t i = 2; i < extents.size(); ++i) {
    const Extent& before = extents[i - 1];
    const Extent& now = extents[i];
    const bool together = now.memory == before.memory + before.bytes && now.bytes == before.bytes &&
                          now.offset - before.offset == before.offset - extents[i - 2].offset;
    n_together += together ? 1 : 0;
  }
  return n_together >= extents.size() - extents.size() / 8;
}

}  // namespace

ExchangeClient::ExchangeClient(const TwoPhase& what, const Rounds& rounds)
    : what_(what), rounds_(rounds), budget_(what.budget()), ahead_(rounds.n()) {
  const Place place = what.group->place();
  const bool reaches = what.list != nullptr && what.file().helpers->peers_reachable && remote_memory_pays(*what.list);
  for (std::size_t i = 0; i < rounds.n(); ++i) {
    const Aggregator aggregator = what.aggregator(i);
    ahead_[i].within_process = place.processes == 1 || aggregator.rank == place.process_leader;
    if (ahead_[i].within_process || (reaches && aggregator.node == place.node))
      ahead_[i].data_path = DataPath::remote_memory;
    n_mine_ += rounds.lowest_in(what.list, i) != kNone ? 1 : 0;
  }
}

void ExchangeClient::mark_domains(std::span<std::int64_t> has) const {
  for (std::size_t i = 0; i < rounds_.n(); ++i) has[i] = rounds_.lowest_in(what_.list, i) != kNone ? 1 : 0;
}

std::uint64_t ExchangeClient::sharers(std::size_t i) const {
  return static_cast<std::uint64_t>(sharers_.empty() ? what_.group->size() : std::max<std::int64_t>(sharers_[i], 1));
}

// Where a window that begins at `lowest` or before has to end, so that neither this task nor, when all others do the
// same, the aggregator has more in messages than the budget allows.
std::uint64_t ExchangeClient::end_of(std::size_t i, std::uint64_t lowest) const {
  const std::uint64_t rest = rounds_.limit(i, lowest);
  const FileDomain stretch{lowest, rest - lowest > budget_.window ? lowest + budget_.window : rest};
  const std::uint64_t most_described = std::min(budget_.encoded / sharers(i), budget_.encoded / n_mine_);
  std::uint64_t most_bytes = kNone;
  if (ahead_[i].data_path == DataPath::inline_data) most_bytes = budget_.window / n_mine_;
  // Replies to many readers of the same bytes go out one after the other, but what many write there comes in at once.
  if (most_bytes != kNone && what_.access->shape() == Shape::overlapping && !what_.reads())
    most_bytes = std::min(most_bytes, budget_.window / sharers(i));
  ExtentEncoder encoded(ahead_[i].data_path);
  std::uint64_t end = kNone;
  for_each_in(*what_.list, stretch, [&](const Extent& extent) {
    if (encoded.size() > most_described) {
      end = extent.offset;
    } else if (extent.bytes > most_bytes - encoded.bytes()) {
      end = extent.offset + (most_bytes - encoded.bytes());
    } else {
      encoded.add(extent);
    }
    return end == kNone;
  });
  return end == kNone ? kNone : std::max(end, lowest + AggregatorBudget::kUnit);
}

void ExchangeClient::look_ahead(std::size_t i) {
  Ahead& ahead = ahead_[i];
  if (ahead.known && ahead.lowest >= rounds_.rest(i).begin) return;
  ahead.known = true;
  ahead.lowest = rounds_.lowest_in(what_.list, i);
  ahead.end = ahead.lowest == kNone ? kNone : end_of(i, ahead.lowest);
}

void ExchangeClient::propose(RoundProposal& proposal) {
  for (std::size_t i = 0; i < rounds_.n(); ++i) {
    look_ahead(i);
    const Ahead& ahead = ahead_[i];
    proposal.lowest(i) = ahead.lowest == kNone ? RoundProposal::kNone : static_cast<std::int64_t>(ahead.lowest);
    proposal.end(i) = ahead.end == kNone ? RoundProposal::kNone : static_cast<std::int64_t>(ahead.end);
  }
}

void ExchangeClient::apply(const RoundProposal& all) {
  for (std::size_t i = 0; i < rounds_.n(); ++i)
    if (rounds_.repeats(all, i)) send_inline(i);
}

void ExchangeClient::send_inline(std::size_t i) {
  ahead_[i].known = false;
  if (!ahead_[i].within_process) ahead_[i].data_path = DataPath::inline_data;
}

std::uint64_t ExchangeClient::most_sharers() const {
  std::uint64_t most = 0;
  for (std::size_t i = 0; i < rounds_.n(); ++i) most = std::max(most, sharers(i));
  return most;
}

std::vector<Message> ExchangeClient::requests(const NodeRelay& relay, std::vector<Message>& to_relays) const {
  std::vector<Message> to_aggregators;
  std::map<TaskRank, Bytes> small;
  for (std::size_t i = 0; i < rounds_.n() && what_.list != nullptr; ++i) {
    const FileDomain window = rounds_.window(i);
    if (window.empty() || ahead_[i].lowest >= window.end) continue;
    const std::optional<TaskRank> through = relay.relay_to(i);
    RequestHeader header;
    header.task = what_.group->rank();
    header.aggregator = static_cast<std::uint32_t>(i);
    header.data_path = ahead_[i].data_path;
    header.with_bytes = !what_.reads() && header.data_path == DataPath::inline_data;
    Bytes request = make_request(*what_.list, window, header, through.has_value() ? relay.most_bytes() : 0);
    if (through.has_value() && request.size() <= relay.most_bytes()) {
      put_bytes(small[*through], request);
    } else {
      to_aggregators.push_back({what_.aggregator(i).rank, std::move(request)});
    }
  }
  to_relays = messages_of(std::move(small));
  return to_aggregators;
}

void ExchangeClient::receive(const std::vector<Message>& replies) {
  for (const Message& message : replies)
    for_each_of<ExchangeReply>(message.data, [&](const ExchangeReply& reply) {
      if (reply.header.task == what_.group->rank()) receive_one(reply);
    });
}

void ExchangeClient::receive_one(const ExchangeReply& reply) {
  const ReplyHeader& header = reply.header;
  const std::byte* bytes = reply.bytes.data();
  for_each_in(*what_.list, rounds_.window_before(header.aggregator), [&](const Extent& extent) {
    if (extent.offset >= header.end) return false;
    std::memcpy(extent.memory, bytes, std::min(extent.bytes, header.end - extent.offset));
    bytes += extent.bytes;
    return true;
  });
  // Also where the aggregator was to write the bytes into this task's memory itself: then it could not.
  if (!ahead_[header.aggregator].within_process) send_inline(header.aggregator);
}

}  // namespace thalweg
