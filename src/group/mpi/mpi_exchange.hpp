// All-to-all of message lengths among MPI ranks, each of which knows only its own receivers; among few ranks also of
// short messages.
//
// Sparse exchange among many: Hoefler, Siebert, Lumsdaine, "Scalable communication protocols for dynamic sparse data exchange", PPoPP'10,
// algorithm NBX: synchronous sends, and a nonblocking barrier that a task enters once all its own sends have been
// received. When the barrier is complete, no message is in flight.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <vector>

#include "group/group.hpp"
#include "group/mpi/mpi_channel.hpp"

namespace thalweg {

// Collective. Returns the messages to this task with room for their data, sorted by source, those of one source in
// sending order. Another collective must follow before the next call, to separate the two. When out of memory on this
// task, some messages are missing, here or at its receivers, and `had_memory` is false: the tasks must still agree on
// that.
Op<Result<std::vector<Message>>> mpi_expected_messages(const MpiChannel& channel, const std::vector<Message>& outgoing,
                                                       bool& had_memory);

// Few ranks need one step: each sends one packet to every other one, with its messages where they are short, else with
// their lengths.
inline constexpr int kMostOfFew = 16;  // ranks
struct MpiPacket {
  // Each rank puts its form into all its packets. The largest form of all ranks decides how the exchange goes on.
  //   enclosed       the messages of this rank are in its packets
  //   announced      their lengths are
  //   unannounced    one rank has too many messages for its packets: the sparse exchange follows
  //   bad_arguments  the exchange fails
  enum Form : std::int64_t { enclosed, announced, unannounced, bad_arguments };
  static constexpr std::size_t kMost = 4;     // messages
  static constexpr std::size_t kRoom = 1904;  // bytes of them

  std::int64_t form = enclosed;
  std::int64_t n = 0;
  std::array<std::int64_t, kMost> bytes{};
  std::array<std::byte, kRoom> data;

  std::int64_t bytes_of_all() const;
};
using MpiPackets = std::deque<MpiPacket>;  // by rank; each is a small allocation of its own

MpiPackets mpi_packets_of(const MpiChannel& channel, const std::vector<Message>& outgoing, bool good);
// Collective. The packets to the other ranks become those from them.
Op<Status> mpi_swap_packets(const MpiChannel& channel, MpiPackets& packets);
// The messages of the packets, with room for what was announced; those of this rank to itself move out of `outgoing`.
// False when out of memory for what was announced.
bool mpi_take_packets(const MpiChannel& channel, const MpiPackets& packets, std::vector<Message>& outgoing,
                      std::vector<Message>& received);

}  // namespace thalweg
