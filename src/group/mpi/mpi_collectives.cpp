// The collectives of an MPI group on a communicator of its own; what makes such a group is in mpi_group.cpp.
//
// Data up to some tens of bytes travel inside the fixed-size packet that opens a collective; longer data follow as
// messages of at most `message_limit` bytes, once their receivers have said that they have memory for them. That
// answer is part of the collective, so a task without memory is a failure on all tasks, not a hang.
#include "group/mpi/mpi_collectives.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "async/callers.hpp"
#include "async/frame_memory.hpp"
#include "group/memory.hpp"
#include "group/mpi/mpi_end.hpp"
#include "group/mpi/mpi_exchange.hpp"
#include "group/mpi/mpi_fold.hpp"
#include "group/mpi/mpi_transfers.hpp"

namespace thalweg {

namespace {

enum Tag : int { kLengthTag = 1, kDataTag = 2 };
constexpr std::size_t kWindow = 256;  // messages at a time where one task talks to all

// What opens a collective. `more`: some task's data is longer than a packet.
template <std::size_t N>
struct Packet {
  std::int64_t bytes = 0;
  std::int64_t more = 0;
  std::array<std::byte, N> data{};

  bool holds() const { return bytes <= static_cast<std::int64_t>(N); }
  void put(ByteView from) {
    bytes = static_cast<std::int64_t>(from.size());
    if (holds() && !from.empty()) std::memcpy(data.data(), from.data(), from.size());
  }
  ByteView view() const { return {data.data(), static_cast<std::size_t>(bytes)}; }
};
using SmallPacket = Packet<48>;
using LargePacket = Packet<240>;

// Makes room for all parts; false without memory.
bool lay_out(const FrameVector<SmallPacket>& packets, Gathered& all) {
  if (!try_resize(all.begin, packets.size() + 1)) return false;
  std::uint64_t end = 0;
  for (std::size_t r = 0; r < packets.size(); ++r) {
    all.begin[r] = end;
    end += static_cast<std::uint64_t>(packets[r].bytes);
  }
  all.begin.back() = end;
  return try_resize(all.data, end);
}

std::span<std::byte> room_for(Gathered& all, std::size_t r) {
  return std::span(all.data).subspan(all.begin[r], all.begin[r + 1] - all.begin[r]);
}

// On the root: what does not fit into packets is still to come, from others. False without memory.
bool list_parts(const FrameVector<SmallPacket>& packets, TaskRank root, Gathered& all, MpiTransfers& transfers) try {
  for (std::size_t r = 0; r < packets.size(); ++r) {
    const auto from = static_cast<TaskRank>(r);
    if (!packets[r].holds() && from != root) transfers.receive(room_for(all, r), from);
  }
  transfers.reserve();
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

// The packet of every task; when the parts are no good it says so to all.
FrameVector<SmallPacket> packets_of(const Gathered& parts, TaskRank size) {
  FrameVector<SmallPacket> packets(static_cast<std::size_t>(size));
  if (!check_parts(parts, size).ok()) {
    for (SmallPacket& packet : packets) packet.bytes = kToldBadArguments;
    return packets;
  }
  std::int64_t more = 0;
  for (std::size_t r = 0; r < packets.size(); ++r) {
    packets[r].put(parts.part(r));
    if (!packets[r].holds()) more = 1;
  }
  for (SmallPacket& packet : packets) packet.more = more;
  return packets;
}

// Of those whose part does not fit into their packet.
bool list_parts(const FrameVector<SmallPacket>& packets, TaskRank root, const Gathered& parts,
                MpiTransfers& transfers) try {
  for (std::size_t r = 0; r < packets.size(); ++r) {
    const auto to = static_cast<TaskRank>(r);
    if (!packets[r].holds() && to != root) transfers.send(parts.part(r), to);
  }
  transfers.reserve();
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

MPI_Op mpi_op(Reduction how) {
  switch (how) {
    case Reduction::min:
      return MPI_MIN;
    case Reduction::max:
      return MPI_MAX;
    case Reduction::sum:
      return MPI_SUM;
    case Reduction::bit_or:
      return MPI_BOR;
  }
  return MPI_OP_NULL;
}

// Both are false without memory.
bool make_room(const std::vector<MpiLength>& lengths, std::vector<Message>& received) {
  if (!try_resize(received, lengths.size())) return false;
  for (std::size_t i = 0; i < received.size(); ++i) {
    received[i].peer = lengths[i].source;
    if (!try_resize(received[i].data, static_cast<std::uint64_t>(lengths[i].bytes))) return false;
  }
  return true;
}

Result<Bytes> copy_of(ByteView data, const char* collective) {
  Bytes copy;
  if (!try_assign(copy, data)) return no_memory_for(collective);
  return copy;
}

Result<Gathered> only_part(ByteView data) {
  Gathered all;
  if (!try_assign(all.data, data) || !try_resize(all.begin, 2)) return no_memory_for("gather");
  all.begin[1] = data.size();
  return all;
}

bool list_transfers(std::vector<Message>& received, const std::vector<Message>& outgoing, MpiTransfers& transfers) try {
  for (Message& message : received) transfers.receive(message.data, message.peer);
  for (const Message& message : outgoing) transfers.send(message.data, message.peer);
  transfers.reserve();
  return true;
} catch (const std::bad_alloc&) {
  return false;
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

// One rank alone makes no call of MPI, and asks it nothing.
Status MpiCollectives::check_group() {
  if (!ended().ok()) return ended();
  if (!is_alone()) return check_mpi_runs();
  is_a_caller();
  return mpi_ended() ? or_out_of_memory(mpi_is_gone) : Status{};
}

// Whether each task can go on (0, or a negative reason why not), told to all.
Op<Status> MpiCollectives::everybody_has(std::int64_t mine, const char* collective) {
  std::int64_t worst = mine;
  auto reduce = [&](MPI_Request* request) {
    return MPI_Iallreduce(MPI_IN_PLACE, &worst, 1, MPI_INT64_T, MPI_MIN, comm(), request);
  };
  const Status status = co_await mpi_finish(reduce, collective);
  if (!status.ok()) co_return status;
  co_return status_told(worst, collective);
}

Op<Status> MpiCollectives::barrier() {
  if (Status gone = check_group(); !gone.ok()) co_return gone;
  if (is_alone()) co_return Status{};
  auto meet = [&](MPI_Request* request) { return MPI_Ibarrier(comm(), request); };
  co_return co_await mpi_finish(meet, "barrier");
}

// `data` has its final length everywhere.
Op<Status> MpiCollectives::send_to_all(Bytes& data, TaskRank root) {
  const auto limit = static_cast<std::size_t>(options_.message_limit);
  for (std::size_t done = 0; done < data.size(); done += limit) {
    const int length = static_cast<int>(std::min(limit, data.size() - done));
    auto send = [&](MPI_Request* request) {
      return MPI_Ibcast(data.data() + done, length, MPI_BYTE, static_cast<int>(root), comm(), request);
    };
    const Status status = co_await mpi_finish(send, "broadcast");
    if (!status.ok()) co_return status;
  }
  co_return Status{};
}

Op<Result<Bytes>> MpiCollectives::broadcast(ByteView data, TaskRank root) {
  if (Status gone = check_group(); !gone.ok()) co_return gone;
  if (Status bad = check_root(root, size()); !bad.ok()) co_return bad;
  if (is_alone()) co_return copy_of(data, "broadcast");
  LargePacket packet;
  if (is(root)) packet.put(data);
  auto open = [&](MPI_Request* request) {
    return MPI_Ibcast(&packet, sizeof packet, MPI_BYTE, static_cast<int>(root), comm(), request);
  };
  Status status = co_await mpi_finish(open, "broadcast");
  if (!status.ok()) co_return status;
  Bytes copy;
  if (packet.holds()) {
    const ByteView bytes = packet.view();
    copy.assign(bytes.begin(), bytes.end());
    co_return copy;
  }
  const bool good = is(root) ? try_assign(copy, data) : try_resize(copy, static_cast<std::uint64_t>(packet.bytes));
  status = co_await everybody_has(good ? 0 : kToldNoMemory, "broadcast");
  if (!status.ok()) co_return status;
  status = co_await send_to_all(copy, root);
  if (!status.ok()) co_return status;
  co_return copy;
}

Op<Result<Gathered>> MpiCollectives::gather(ByteView data, TaskRank root) {
  if (Status gone = check_group(); !gone.ok()) co_return gone;
  if (Status bad = check_root(root, size()); !bad.ok()) co_return bad;
  if (is_alone()) co_return only_part(data);
  SmallPacket mine;
  mine.put(data);
  FrameVector<SmallPacket> packets(is(root) ? static_cast<std::size_t>(size()) : 0);
  auto open = [&](MPI_Request* request) {
    return MPI_Igather(&mine, sizeof mine, MPI_BYTE, packets.data(), sizeof mine, MPI_BYTE, static_cast<int>(root),
                       comm(), request);
  };
  Status status = co_await mpi_finish(open, "gather");
  if (!status.ok()) co_return status;

  Gathered all;
  MpiTransfers transfers(comm(), kDataTag, options_.message_limit, kWindow);
  const bool good = !is(root) || (lay_out(packets, all) && list_parts(packets, root, all, transfers));
  std::int64_t told = good ? 0 : kToldNoMemory;
  auto tell = [&](MPI_Request* request) {
    return MPI_Ibcast(&told, 1, MPI_INT64_T, static_cast<int>(root), comm(), request);
  };
  status = co_await mpi_finish(tell, "gather");
  if (status.ok()) status = status_told(told, "gather");
  if (!status.ok()) co_return status;

  if (!is(root) && !mine.holds()) transfers.send(data, root);
  for (std::size_t r = 0; r < packets.size(); ++r) {
    const bool own = static_cast<TaskRank>(r) == root;
    if (!own && !packets[r].holds()) continue;
    const ByteView from = own ? data : packets[r].view();
    std::copy(from.begin(), from.end(), room_for(all, r).begin());
  }
  status = co_await transfers.finish("gather");
  if (!status.ok()) co_return status;
  co_return all;
}

Op<Result<Bytes>> MpiCollectives::scatter(const Gathered& parts, TaskRank root) {
  if (Status gone = check_group(); !gone.ok()) co_return gone;
  if (Status bad = check_root(root, size()); !bad.ok()) co_return bad;
  if (is_alone()) {
    if (Status bad = check_parts(parts, 1); !bad.ok()) co_return bad;
    co_return copy_of(parts.part(0), "scatter");
  }
  FrameVector<SmallPacket> packets;
  if (is(root)) packets = packets_of(parts, size());
  SmallPacket mine;
  auto open = [&](MPI_Request* request) {
    return MPI_Iscatter(packets.data(), sizeof mine, MPI_BYTE, &mine, sizeof mine, MPI_BYTE, static_cast<int>(root),
                        comm(), request);
  };
  Status status = co_await mpi_finish(open, "scatter");
  if (status.ok()) status = status_told(mine.bytes, "scatter");
  if (!status.ok()) co_return status;

  Bytes part;
  MpiTransfers transfers(comm(), kDataTag, options_.message_limit, kWindow);
  if (mine.more != 0) {
    const bool good =
        try_resize(part, static_cast<std::uint64_t>(mine.bytes)) && list_parts(packets, root, parts, transfers);
    status = co_await everybody_has(good ? 0 : kToldNoMemory, "scatter");
    if (!status.ok()) co_return status;
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
  status = co_await transfers.finish("scatter");
  if (!status.ok()) co_return status;
  co_return part;
}

Op<Result<std::vector<std::int64_t>>> MpiCollectives::allreduce(std::vector<std::int64_t> mine, Reduction how) {
  if (Status gone = check_group(); !gone.ok()) co_return gone;
  if (is_alone()) co_return std::move(mine);
  const std::size_t limit = std::max<std::size_t>(1, static_cast<std::size_t>(options_.message_limit) / 8);
  for (std::size_t done = 0; done < mine.size(); done += limit) {
    const int count = static_cast<int>(std::min(limit, mine.size() - done));
    auto reduce = [&](MPI_Request* request) {
      return MPI_Iallreduce(MPI_IN_PLACE, mine.data() + done, count, MPI_INT64_T, mpi_op(how), comm(), request);
    };
    const Status status = co_await mpi_finish(reduce, "allreduce");
    if (!status.ok()) co_return status;
  }
  co_return std::move(mine);
}

Op<Status> MpiCollectives::fold(void* mine, void* before, Folding how) {
  if (Status gone = check_group(); !gone.ok()) co_return gone;
  if (is_alone()) co_return Status{};
  const MpiRanks ranks{comm(), static_cast<int>(rank_), static_cast<int>(size_)};
  Leaver leaver;
  Status status = co_await mpi_fold(ranks, kDataTag, FoldOf{mine, before, how, &leaver});
  if (leaver.call != Call::none) status = end_with_leaver(*this, leaver);
  co_return status;
}

void MpiCollectives::leave(Leaver leaver) noexcept {
  if (!ended().ok()) return;
  end(has_left(leaver), leaver);
  if (is_alone() || mpi_ended()) return;
  is_a_caller();
  leave_mpi_fold({std::exchange(comm_, MPI_COMM_NULL), static_cast<int>(rank_), static_cast<int>(size_)}, kDataTag,
                 leaver);
}

Op<Result<std::vector<Message>>> MpiCollectives::exchange(std::vector<Message> outgoing) {
  if (Status gone = check_group(); !gone.ok()) co_return gone;
  if (is_alone()) {
    if (Status bad = check_peers(outgoing, 1); !bad.ok()) co_return bad;
    co_return std::move(outgoing);
  }
  // A task with wrong arguments sends nothing, and says so below.
  const bool good = check_peers(outgoing, size()).ok();
  if (!good) outgoing.clear();
  bool memory = true;
  const auto lengths = co_await mpi_exchange_lengths(comm(), kLengthTag, outgoing, memory);
  if (!lengths.has_value()) co_return lengths.error();

  std::vector<Message> received;
  MpiTransfers transfers(comm(), kDataTag, options_.message_limit);
  memory = memory && make_room(lengths.value(), received) && list_transfers(received, outgoing, transfers);
  Status status = co_await everybody_has(good ? (memory ? 0 : kToldNoMemory) : kToldBadArguments, "exchange");
  if (!status.ok()) co_return status;

  status = co_await transfers.finish("exchange");
  if (!status.ok()) co_return status;
  co_return received;
}

}  // namespace thalweg
