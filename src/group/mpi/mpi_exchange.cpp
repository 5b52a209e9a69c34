#include "group/mpi/mpi_exchange.hpp"

#include <algorithm>
#include <climits>
#include <cstring>
#include <numeric>
#include <utility>

#include "group/memory.hpp"
#include "group/mpi/mpi_transfers.hpp"

namespace thalweg {

namespace {

class LengthExchange final : public MpiWait {
 public:
  // Sends nothing when out of memory.
  LengthExchange(const MpiChannel& channel, const std::vector<Message>& outgoing)
      : MpiWait("exchange"), channel_(channel), outgoing_(outgoing) {
    had_memory_ = try_reserve(lengths_, outgoing.size()) && try_reserve(sends_, outgoing.size());
  }
  // Once complete: the messages with room for their data, as far as there was memory.
  std::vector<Message> take(bool& had_memory) {
    for (std::size_t i = 0; had_memory_ && i < received_.size(); ++i)
      had_memory_ = try_resize(received_[i].data, received_bytes_[i]);
    had_memory = had_memory_;
    return std::move(received_);
  }

 private:
  bool advance(int& error) override;
  int send_all();
  bool receive_one(int& error);
  int begin_round();
  int advance_barrier();

  const MpiChannel& channel_;
  const std::vector<Message>& outgoing_;
  std::vector<std::int64_t> lengths_;  // kept until the sends are complete
  std::vector<MPI_Request> sends_;
  bool started_ = false;
  int distance_ = 0;  // of the current round of the barrier; 0: not entered
  MPI_Request round_[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  std::vector<Message> received_;
  // The length of each; memory for the data is taken outside of the turn (mpi_turn.hpp).
  std::vector<std::uint64_t> received_bytes_;
  bool had_memory_ = true;
};

int LengthExchange::send_all() {
  int error = MPI_SUCCESS;
  if (!had_memory_) return error;
  for (const Message& message : outgoing_) lengths_.push_back(static_cast<std::int64_t>(message.data.size()));
  for (std::size_t i = 0; i < outgoing_.size() && error == MPI_SUCCESS; ++i) {
    const int peer = static_cast<int>(outgoing_[i].peer);
    sends_.push_back(MPI_REQUEST_NULL);
    error = MPI_Issend(&lengths_[i], 1, MPI_INT64_T, peer, channel_.length_tag(), channel_.comm(), &sends_.back());
  }
  return error;
}

// Matched probe: with several threads in MPI no other one can take the message between probe and receive.
bool LengthExchange::receive_one(int& error) {
  int found = 0;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  error = MPI_Improbe(MPI_ANY_SOURCE, channel_.length_tag(), channel_.comm(), &found, &message, &status);
  if (error != MPI_SUCCESS || found == 0) return false;
  std::int64_t bytes = 0;
  error = MPI_Mrecv(&bytes, 1, MPI_INT64_T, &message, MPI_STATUS_IGNORE);
  had_memory_ = had_memory_ && try_to([&] {
                  received_.push_back({status.MPI_SOURCE, {}});
                  received_bytes_.push_back(static_cast<std::uint64_t>(bytes));
                });
  got_on();
  return error == MPI_SUCCESS;
}

int LengthExchange::begin_round() {
  const int size = channel_.size;
  const MpiMessage in{nullptr, 0, (channel_.rank - distance_ + size) % size};
  const MpiMessage out{nullptr, 0, (channel_.rank + distance_) % size};
  const int error = in.receive(channel_, &round_[0]);
  return error == MPI_SUCCESS ? out.send(channel_, &round_[1]) : error;
}

// Advances the barrier of MpiGroup::barrier() by one step; entered once all sends of this task have been received.
int LengthExchange::advance_barrier() {
  int done = 0;
  if (distance_ == 0) {
    const int error = MPI_Testall(static_cast<int>(sends_.size()), sends_.data(), &done, MPI_STATUSES_IGNORE);
    if (error != MPI_SUCCESS || done == 0) return error;
    distance_ = 1;
    return begin_round();
  }
  const int error = MPI_Testall(2, round_, &done, MPI_STATUSES_IGNORE);
  if (error != MPI_SUCCESS || done == 0) return error;
  distance_ *= 2;
  return distance_ < channel_.size ? begin_round() : MPI_SUCCESS;
}

bool LengthExchange::advance(int& error) {
  if (!std::exchange(started_, true)) error = send_all();
  while (error == MPI_SUCCESS && receive_one(error)) continue;
  for (int before = -1; error == MPI_SUCCESS && before != distance_ && distance_ < channel_.size;) {
    before = distance_;
    error = advance_barrier();
  }
  return distance_ >= channel_.size;
}

// The part of a packet that is sent.
std::span<std::byte> used_of(MpiPacket& packet) {
  const auto enclosed = packet.form == MpiPacket::enclosed ? static_cast<std::size_t>(packet.bytes_of_all()) : 0;
  return std::as_writable_bytes(std::span(&packet, 1)).first(offsetof(MpiPacket, data) + enclosed);
}

}  // namespace

std::int64_t MpiPacket::bytes_of_all() const { return std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0}); }

MpiPackets mpi_packets_of(const MpiChannel& channel, const std::vector<Message>& outgoing, bool good) {
  MpiPackets packets(static_cast<std::size_t>(channel.size));
  std::int64_t form = good ? MpiPacket::enclosed : MpiPacket::bad_arguments;
  for (const Message& message : outgoing) {
    MpiPacket& packet = packets[static_cast<std::size_t>(message.peer)];
    if (message.peer == channel.rank) continue;
    if (packet.n == MpiPacket::kMost) {
      form = std::max<std::int64_t>(form, MpiPacket::unannounced);
      continue;
    }
    const auto before = static_cast<std::size_t>(packet.bytes_of_all());
    packet.bytes[static_cast<std::size_t>(packet.n++)] = static_cast<std::int64_t>(message.data.size());
    if (before + message.data.size() > MpiPacket::kRoom) {
      form = std::max<std::int64_t>(form, MpiPacket::announced);
    } else if (form == MpiPacket::enclosed && !message.data.empty()) {
      std::memcpy(packet.data.data() + before, message.data.data(), message.data.size());
    }
  }
  for (MpiPacket& packet : packets) packet.form = form;
  return packets;
}

Op<Status> mpi_swap_packets(const MpiChannel& channel, MpiPackets& packets) {
  MpiPackets received(packets.size());
  MpiTransfers transfers(channel, INT_MAX, "exchange");
  for (int peer = 0; peer < channel.size; ++peer) {
    if (peer == channel.rank) continue;
    const auto i = static_cast<std::size_t>(peer);
    transfers.receive(std::as_writable_bytes(std::span(&received[i], 1)), peer);
    transfers.send(used_of(packets[i]), peer);
  }
  transfers.reserve();
  TW_CO_RETURN_IF_ERROR(co_await transfers);
  received[static_cast<std::size_t>(channel.rank)].form = packets[static_cast<std::size_t>(channel.rank)].form;
  packets = std::move(received);
  co_return Status{};
}

bool mpi_take_packets(const MpiChannel& channel, const MpiPackets& packets, std::vector<Message>& outgoing,
                      std::vector<Message>& received) {
  for (int peer = 0; peer < channel.size; ++peer) {
    const MpiPacket& packet = packets[static_cast<std::size_t>(peer)];
    if (peer == channel.rank) {
      for (Message& message : outgoing)
        if (message.peer == peer) received.push_back({peer, std::exchange(message.data, {})});
      continue;
    }
    const std::byte* from = packet.data.data();
    for (std::size_t i = 0; i < static_cast<std::size_t>(packet.n); ++i) {
      Message& message = received.emplace_back(Message{peer, {}});
      if (packet.form != MpiPacket::enclosed) {
        if (!try_resize(message.data, static_cast<std::uint64_t>(packet.bytes[i]))) return false;
        continue;
      }
      message.data.assign(from, from + packet.bytes[i]);
      from += packet.bytes[i];
    }
  }
  return true;
}

Op<Result<std::vector<Message>>> mpi_expected_messages(const MpiChannel& channel, const std::vector<Message>& outgoing,
                                                       bool& had_memory) {
  LengthExchange exchange(channel, outgoing);
  TW_CO_RETURN_IF_ERROR(co_await exchange);
  std::vector<Message> received = exchange.take(had_memory);
  std::stable_sort(received.begin(), received.end(),
                   [](const Message& a, const Message& b) { return a.peer < b.peer; });
  co_return received;
}

}  // namespace thalweg
