// Sparse all-to-all of message lengths among MPI ranks, each of which knows only its own receivers.
//
// Source: Hoefler, Siebert, Lumsdaine, "Scalable communication protocols for dynamic sparse data exchange", PPoPP'10,
// algorithm NBX: synchronous sends, and a nonblocking barrier that a task enters once all its own sends have been
// received. When the barrier is complete, no message is in flight.
#pragma once

#include <cstdint>
#include <vector>

#include "group/group.hpp"
#include "group/mpi/mpi_channel.hpp"

namespace thalweg {

struct MpiLength {
  TaskRank source;
  std::int64_t bytes;
};

// Collective. Returns the lengths of the messages to this task, sorted by source, those of one source in sending
// order. Another collective must follow before the next call, to separate the two. When out of memory on this task,
// some lengths are missing, here or at its receivers, and `had_memory` is false: the tasks must still agree on that.
Op<Result<std::vector<MpiLength>>> mpi_exchange_lengths(const MpiChannel& channel, const std::vector<Message>& outgoing,
                                                        bool& had_memory);

}  // namespace thalweg
