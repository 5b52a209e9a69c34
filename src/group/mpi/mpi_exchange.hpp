// Who sends how much to me? Sparse all-to-all of lengths among MPI ranks that name only their own partners.
//
// Source: Hoefler, Siebert, Lumsdaine, "Scalable communication protocols for dynamic sparse data exchange",
// PPoPP'10, algorithm NBX: synchronous sends, and a nonblocking barrier that a task enters once all its own sends
// have been received. When the barrier is complete, nothing is under way to anybody.
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

// Collective. The lengths of the messages to this task, sorted by source, those of one source in sending order.
// Must be followed by another collective before the next call: it separates the two. Without memory on this task some
// are missing, here or where it sends to, and `had_memory` says so: that is still to be agreed on.
Op<Result<std::vector<MpiLength>>> mpi_exchange_lengths(const MpiChannel& channel, const std::vector<Message>& outgoing,
                                                        bool& had_memory);

}  // namespace thalweg
