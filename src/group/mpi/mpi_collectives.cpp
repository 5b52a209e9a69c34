// The collectives of an MPI group, as trees of messages.
//
// Data up to some tens of bytes travel inside the fixed-size packet that opens a collective; longer data follow in
// messages of at most `message_limit` bytes, once their receivers have confirmed that they have memory. The
// confirmation is part of the collective, so a task without memory is a failure on all tasks, not a hang.
#include "group/mpi/mpi_collectives.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "async/callers.hpp"
#include "group/memory.hpp"
#include "group/mpi/mpi_end.hpp"
#include "group/mpi/mpi_exchange.hpp"
#include "group/mpi/mpi_fold.hpp"
#include "group/mpi/mpi_transfers.hpp"
#include "group/packet.hpp"
#include "group/reduce.hpp"

namespace thalweg {

namespace {

constexpr std::size_t kWindow = 256;                  // messages at a time where one task communicates with all
constexpr std::size_t kMostNumbers = 256;             // in one message of a reduction
constexpr std::size_t kPiece = std::size_t{1} << 18;  // bytes of one message of long data down a tree

using SmallPacket = Packet<48>;
using LargePacket = Packet<240>;
using Packets = std::vector<SmallPacket>;  // packets of a subtree, by number in the tree (mpi_channel.hpp)

// Index of a rank among the packets of all.
std::size_t place_of(std::size_t rank, const MpiTree& tree) {
  const auto size = static_cast<std::size_t>(tree.size);
  return (rank + size - static_cast<std::size_t>(tree.root)) % size;
}

std::span<std::byte> room_for(Gathered& all, std::size_t r) {
  return std::span(all.data).subspan(all.begin[r], all.begin[r + 1] - all.begin[r]);
}

// On the root: calls add(rank) for each part that exceeds its packet, to post its transfer. False when out of memory.
template <class Add>
bool list_parts(const Packets& packets, const MpiTree& tree, MpiTransfers& transfers, Add add) {
  return try_to([&] {
    for (std::size_t r = 0; r < packets.size(); ++r) {
      const std::size_t place = place_of(r, tree);
      if (!packets[place].holds() && place > 0) add(r);
    }
    transfers.reserve();
  });
}

// The packet of every task; invalid parts are reported in all packets.
Packets packets_of(const Gathered& parts, const MpiTree& tree) {
  Packets packets(static_cast<std::size_t>(tree.size));
  if (!check_parts(parts, tree.size).ok()) {
    for (SmallPacket& packet : packets) packet.bytes = kToldBadArguments;
    return packets;
  }
  std::int64_t more = 0;
  for (std::size_t r = 0; r < packets.size(); ++r) {
    SmallPacket& packet = packets[place_of(r, tree)];
    packet.put(parts.part(r));
    if (!packet.holds()) more = 1;
  }
  for (SmallPacket& packet : packets) packet.more = more;
  return packets;
}

// Lists what the packets, if there were any, do not enclose. False when out of memory.
bool list_transfers(std::vector<Message>& received, const std::vector<Message>& outgoing, const MpiPackets& packets,
                    TaskRank rank, MpiTransfers& transfers) {
  const auto follows = [&](TaskRank peer, TaskRank sender) {
    return packets.empty() || (peer != rank && packets[static_cast<std::size_t>(sender)].form != MpiPacket::enclosed);
  };
  return try_to([&] {
    for (Message& message : received)
      if (follows(message.peer, message.peer)) transfers.receive(message.data, message.peer);
    for (const Message& message : outgoing)
      if (follows(message.peer, rank)) transfers.send(message.data, message.peer);
    transfers.reserve();
  });
}

// Gathers the packets of each subtree upwards, until the root has all.
Op<Status> gather_packets(const MpiChannel& channel, const MpiTree& tree, Packets& packets) {
  for (int bit = 1; bit < tree.span && tree.number + bit < tree.size; bit *= 2) {
    const MpiMessage from{&packets[static_cast<std::size_t>(bit)],
                          static_cast<std::size_t>(tree.ranks_below(bit)) * sizeof(SmallPacket),
                          tree.rank_of(tree.number + bit)};
    TW_CO_RETURN_IF_ERROR(co_await mpi_receive(channel, from, "gather"));
  }
  if (tree.is_root()) co_return Status{};
  const MpiMessage up{packets.data(), packets.size() * sizeof(SmallPacket), tree.parent()};
  co_return co_await mpi_send(channel, up, "gather");
}

// Sends data from the root to all ranks: each child gets its part_of(bit).
template <class PartOf>
Op<Status> pass_down(const MpiChannel& channel, const MpiTree& tree, std::span<std::byte> mine, PartOf part_of,
                     const char* collective) {
  if (!tree.is_root()) {
    const MpiMessage down{mine.data(), mine.size(), tree.parent()};
    TW_CO_RETURN_IF_ERROR(co_await mpi_receive(channel, down, collective));
  }
  for (int bit = tree.span / 2; bit > 0; bit /= 2) {
    if (tree.number + bit >= tree.size) continue;
    const std::span<std::byte> part = part_of(bit);
    const MpiMessage to{part.data(), part.size(), tree.rank_of(tree.number + bit)};
    TW_CO_RETURN_IF_ERROR(co_await mpi_send(channel, to, collective));
  }
  co_return Status{};
}

// Each rank ends with the packets of its subtree.
Op<Status> scatter_packets(const MpiChannel& channel, const MpiTree& tree, Packets& packets) {
  const std::span<SmallPacket> all = packets;
  const auto of_child = [=, &tree](int bit) {
    const auto n = static_cast<std::size_t>(tree.ranks_below(bit));
    return std::as_writable_bytes(all.subspan(static_cast<std::size_t>(bit), n));
  };
  return pass_down(channel, tree, std::as_writable_bytes(all), of_child, "scatter");
}

// Sends one message from the root to all ranks.
Op<Status> broadcast_message(const MpiChannel& channel, const MpiTree& tree, std::span<std::byte> data,
                             const char* collective) {
  return pass_down(
      channel, tree, data, [data](int) { return data; }, collective);
}

}  // namespace

Status check_mpi_runs() {
  int initialized = 0;
  int finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (initialized == 0) return Status::error(Code::invalid_argument, "MPI is not initialised: call MPI_Init first");
  return finalized != 0 || mpi_ended() ? mpi_is_gone() : Status{};
}

// A rank alone makes no MPI call.
Status MpiGroup::check_group() {
  if (!ended().ok()) return ended();
  if (check_ != nullptr && !check_->over().ok()) return check_->over();
  if (!is_alone()) return check_mpi_runs();
  is_a_caller();
  return mpi_ended() ? mpi_is_gone() : Status{};
}

// Recursive doubling. Where the number of ranks is no power of two, the first ranks form pairs: the odd rank of a
// pair acts for both, and the even one gets the result at the end.
Op<Status> MpiGroup::reduce(std::span<std::int64_t> numbers, Reduction how, const char* collective) {
  const int size = channel_.size;
  const int rank = channel_.rank;
  const auto power = static_cast<int>(std::bit_floor(static_cast<unsigned>(size)));
  const int pairs = size - power;
  const std::size_t bytes = numbers.size_bytes();
  std::vector<std::int64_t> other(numbers.size());
  const bool is_paired = rank < 2 * pairs;
  const bool acts = !is_paired || rank % 2 != 0;
  if (is_paired) {
    const MpiMessage partner{acts ? other.data() : numbers.data(), bytes, acts ? rank - 1 : rank + 1};
    if (acts) {
      TW_CO_RETURN_IF_ERROR(co_await mpi_receive(channel_, partner, collective));
      reduce_into(numbers, other, how);
    } else {
      TW_CO_RETURN_IF_ERROR(co_await mpi_send(channel_, partner, collective));
    }
  }
  const int actor = is_paired ? rank / 2 : rank - pairs;
  for (int bit = 1; acts && bit < power; bit *= 2) {
    const int partner = actor ^ bit;
    const int peer = partner < pairs ? 2 * partner + 1 : partner + pairs;
    const MpiMessage out{numbers.data(), bytes, peer};
    const MpiMessage in{other.data(), bytes, peer};
    TW_CO_RETURN_IF_ERROR(co_await mpi_swap(channel_, out, in, collective));
    reduce_into(numbers, other, how);
  }
  if (!is_paired) co_return Status{};
  const MpiMessage partner{numbers.data(), bytes, acts ? rank - 1 : rank + 1};
  if (acts) co_return co_await mpi_send(channel_, partner, collective);
  co_return co_await mpi_receive(channel_, partner, collective);
}

Op<Status> MpiGroup::everybody_has(std::int64_t mine, const char* collective) {
  std::int64_t worst = mine;
  const std::span<std::int64_t> numbers(&worst, 1);
  TW_CO_RETURN_IF_ERROR(co_await reduce(numbers, Reduction::min, collective));
  co_return status_told(worst, collective);
}

// Dissemination barrier (Hensgen, Finkel, Manber 1988).
Op<Status> MpiGroup::barrier() {
  if (Status gone = check_group(); !gone.ok()) co_return gone;
  const int size = channel_.size;
  for (int distance = 1; distance < size; distance *= 2) {
    const MpiMessage out{nullptr, 0, (channel_.rank + distance) % size};
    const MpiMessage in{nullptr, 0, (channel_.rank - distance + size) % size};
    TW_CO_RETURN_IF_ERROR(co_await mpi_swap(channel_, out, in, "barrier"));
  }
  co_return Status{};
}

// `data` has its final length everywhere. Sent in pieces: a rank forwards one while its parent sends the next.
Op<Status> MpiGroup::send_down(std::span<std::byte> data, TaskRank root, const char* collective) {
  const MpiTree tree(channel_, static_cast<int>(root));
  const std::size_t most = std::min(kPiece, static_cast<std::size_t>(options_.message_limit));
  for (std::size_t done = 0; done < data.size(); done += most) {
    const std::span<std::byte> piece = data.subspan(done, std::min(most, data.size() - done));
    TW_CO_RETURN_IF_ERROR(co_await broadcast_message(channel_, tree, piece, collective));
  }
  co_return Status{};
}

Op<Result<Bytes>> MpiGroup::broadcast(ByteView data, TaskRank root) {
  if (Status gone = check_group(); !gone.ok()) co_return gone;
  if (Status bad = check_root(root, size()); !bad.ok()) co_return bad;
  LargePacket packet;
  if (is(root)) packet.put(data);
  const MpiTree tree(channel_, static_cast<int>(root));
  TW_CO_RETURN_IF_ERROR(co_await broadcast_message(channel_, tree, bytes_of(packet), "broadcast"));
  if (packet.holds()) co_return packet.copy();
  Bytes copy;
  const bool good = is(root) ? try_assign(copy, data) : try_resize(copy, static_cast<std::uint64_t>(packet.bytes));
  TW_CO_RETURN_IF_ERROR(co_await everybody_has(good ? 0 : kToldNoMemory, "broadcast"));
  TW_CO_RETURN_IF_ERROR(co_await send_down(copy, root, "broadcast"));
  co_return copy;
}

Op<Result<Gathered>> MpiGroup::gather(ByteView data, TaskRank root) {
  if (Status gone = check_group(); !gone.ok()) co_return gone;
  if (Status bad = check_root(root, size()); !bad.ok()) co_return bad;
  const MpiTree tree(channel_, static_cast<int>(root));
  Packets packets(static_cast<std::size_t>(tree.ranks_of_subtree()));
  packets[0].put(data);
  const bool mine_holds = packets[0].holds();
  TW_CO_RETURN_IF_ERROR(co_await gather_packets(channel_, tree, packets));

  if (!is(root)) packets.clear();
  Gathered all;
  MpiTransfers transfers(channel_, options_.message_limit, "gather", kWindow);
  const auto receive = [&](std::size_t r) { transfers.receive(room_for(all, r), static_cast<TaskRank>(r)); };
  const auto bytes_of_part = [&](std::size_t r) { return packets[place_of(r, tree)].bytes; };
  const bool good =
      !is(root) || (lay_out(all, packets.size(), bytes_of_part) && list_parts(packets, tree, transfers, receive));
  std::int64_t told = good ? 0 : kToldNoMemory;
  TW_CO_RETURN_IF_ERROR(co_await broadcast_message(channel_, tree, bytes_of(told), "gather"));
  TW_CO_RETURN_IF_ERROR(status_told(told, "gather"));

  if (!is(root) && !mine_holds) transfers.send(data, root);
  for (std::size_t r = 0; r < packets.size(); ++r) {
    const std::size_t place = place_of(r, tree);
    if (place > 0 && !packets[place].holds()) continue;
    const ByteView from = place == 0 ? data : packets[place].view();
    std::copy(from.begin(), from.end(), room_for(all, r).begin());
  }
  TW_CO_RETURN_IF_ERROR(co_await transfers);
  co_return all;
}

Op<Result<Bytes>> MpiGroup::scatter(const Gathered& parts, TaskRank root) {
  if (Status gone = check_group(); !gone.ok()) co_return gone;
  if (Status bad = check_root(root, size()); !bad.ok()) co_return bad;
  const MpiTree tree(channel_, static_cast<int>(root));
  Packets packets;
  if (is(root)) {
    packets = packets_of(parts, tree);
  } else {
    packets.resize(static_cast<std::size_t>(tree.ranks_of_subtree()));
  }
  TW_CO_RETURN_IF_ERROR(co_await scatter_packets(channel_, tree, packets));
  const SmallPacket mine = packets[0];
  TW_CO_RETURN_IF_ERROR(status_told(mine.bytes, "scatter"));

  Bytes part;
  MpiTransfers transfers(channel_, options_.message_limit, "scatter", kWindow);
  if (mine.more != 0) {
    const auto send = [&](std::size_t r) { transfers.send(parts.part(r), static_cast<TaskRank>(r)); };
    const bool good = try_resize(part, static_cast<std::uint64_t>(mine.bytes)) &&
                      (!is(root) || list_parts(packets, tree, transfers, send));
    TW_CO_RETURN_IF_ERROR(co_await everybody_has(good ? 0 : kToldNoMemory, "scatter"));
  }
  if (mine.holds()) {
    const ByteView bytes = mine.view();
    part.assign(bytes.begin(), bytes.end());
  } else if (is(root)) {
    const ByteView bytes = parts.part(static_cast<std::size_t>(root));
    std::copy(bytes.begin(), bytes.end(), part.begin());
  } else {
    transfers.receive(part, root);
  }
  TW_CO_RETURN_IF_ERROR(co_await transfers);
  co_return part;
}

Op<Result<std::vector<std::int64_t>>> MpiGroup::allreduce(std::vector<std::int64_t> mine, Reduction how) {
  if (Status gone = check_group(); !gone.ok()) co_return gone;
  const std::size_t limit =
      std::clamp<std::size_t>(static_cast<std::size_t>(options_.message_limit) / sizeof mine[0], 1, kMostNumbers);
  for (std::size_t done = 0; done < mine.size(); done += limit) {
    const auto numbers = std::span(mine).subspan(done, std::min(limit, mine.size() - done));
    TW_CO_RETURN_IF_ERROR(co_await reduce(numbers, how, "allreduce"));
  }
  co_return std::move(mine);
}

Op<Status> MpiGroup::fold(void* mine, void* before, Folding how) {
  if (Status gone = check_group(); !gone.ok()) co_return gone;
  const auto leaver = co_await mpi_fold(channel_, mine, before, how);
  if (leaver.has_value() && leaver.value().call != Call::none) co_return end_with_leaver(*this, leaver.value());
  co_return leaver.status();
}

void MpiGroup::leave(Leaver leaver) noexcept {
  if (check_ != nullptr) check_->leave(leaver);
  if (!ended().ok()) return;
  end(has_left(leaver), leaver);
  if (is_alone() || mpi_ended()) return;
  is_a_caller();
  leave_mpi_fold(channel_, leaver);
}

Op<Result<std::vector<Message>>> MpiGroup::exchange(std::vector<Message> outgoing) {
  if (Status gone = check_group(); !gone.ok()) co_return gone;
  if (is_alone()) {
    if (Status bad = check_peers(outgoing, 1); !bad.ok()) co_return bad;
    co_return std::move(outgoing);
  }
  // A task with invalid arguments sends nothing, and reports that below.
  const bool good = check_peers(outgoing, size()).ok();
  if (!good) outgoing.clear();
  bool memory = true;
  std::vector<Message> received;
  MpiPackets packets;
  if (size() <= kMostOfFew) {
    packets = mpi_packets_of(channel_, outgoing, good);
    TW_CO_RETURN_IF_ERROR(co_await mpi_swap_packets(channel_, packets));
    const auto form = std::ranges::max_element(packets, {}, &MpiPacket::form)->form;
    if (form == MpiPacket::bad_arguments) co_return bad_arguments_in("exchange");
    if (form == MpiPacket::unannounced) packets.clear();
    if (!packets.empty()) memory = mpi_take_packets(channel_, packets, outgoing, received);
    if (form == MpiPacket::enclosed) co_return std::move(received);
  }
  if (packets.empty()) {
    TW_CO_ASSIGN_OR_RETURN(received, co_await mpi_expected_messages(channel_, outgoing, memory));
  }
  MpiTransfers transfers(channel_, options_.message_limit, "exchange");
  memory = memory && list_transfers(received, outgoing, packets, rank(), transfers);
  TW_CO_RETURN_IF_ERROR(co_await everybody_has(good ? (memory ? 0 : kToldNoMemory) : kToldBadArguments, "exchange"));

  TW_CO_RETURN_IF_ERROR(co_await transfers);
  co_return std::move(received);
}

}  // namespace thalweg
