// Sparse all-to-all of message lengths among MPI ranks, each of which knows only its own receivers.
//
// Source: Hoefler, Siebert, Lumsdaine, "Scalable communication protocols for dynamic sparse data exchange", PPoPP'10,
// algorithm NBX: synchronous sends, and a nonblocking barrier that a task enters once all its own sends have been
// received. When the barrier is complete, no message is in flight.
#pragma once

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

}  // namespace thalweg
