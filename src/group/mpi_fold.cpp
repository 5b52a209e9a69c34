#include "group/mpi_fold.hpp"

#include <cstring>

#include "group/frame_memory.hpp"
#include "group/mpi_transfers.hpp"

namespace thalweg {

namespace {

using Records = FrameVector<std::byte>;  // as a frame: no task may fail alone here

enum class Way { send, receive };

Op<Status> move_record(MPI_Comm comm, int tag, Way way, void* record, std::size_t bytes, int peer) {
  const int n = static_cast<int>(bytes);
  auto move = [&](MPI_Request* request) {
    return way == Way::send ? MPI_Isend(record, n, MPI_BYTE, peer, tag, comm, request)
                            : MPI_Irecv(record, n, MPI_BYTE, peer, tag, comm, request);
  };
  co_return co_await mpi_finish(move, "fold");
}

}  // namespace

// The subtree of a rank is that rank and those that follow: a child with bit `bit` has ranks rank+bit and up. So what
// has been joined before a child is what lies between the two, and joining stays in rank order.
Op<Status> mpi_fold(MpiRanks ranks, int tag, void* mine, void* before, Folding how) {
  const auto [comm, rank, size] = ranks;
  Records between;  // and each child, lowest first
  Folding::Record other;
  int bit = 1;
  for (; bit < size && (rank & bit) == 0; bit *= 2) {
    if (rank + bit >= size) continue;
    const auto* joined = static_cast<const std::byte*>(mine);
    between.insert(between.end(), joined, joined + how.bytes);
    const Status status = co_await move_record(comm, tag, Way::receive, &other, how.bytes, rank + bit);
    if (!status.ok()) co_return status;
    how.join(mine, &other);
  }
  if (rank > 0) {
    Status status = co_await move_record(comm, tag, Way::send, mine, how.bytes, rank - bit);
    if (status.ok()) status = co_await move_record(comm, tag, Way::receive, before, how.bytes, rank - bit);
    if (status.ok()) status = co_await move_record(comm, tag, Way::receive, mine, how.bytes, rank - bit);
    if (!status.ok()) co_return status;
  }
  for (bit /= 2; bit > 0; bit /= 2) {
    if (rank + bit >= size) continue;
    const std::byte* lower = between.data() + between.size() - how.bytes;
    if (rank > 0) {
      std::memcpy(&other, before, how.bytes);
      how.join(&other, lower);
    } else {
      std::memcpy(&other, lower, how.bytes);
    }
    between.resize(between.size() - how.bytes);
    Status status = co_await move_record(comm, tag, Way::send, &other, how.bytes, rank + bit);
    if (status.ok()) status = co_await move_record(comm, tag, Way::send, mine, how.bytes, rank + bit);
    if (!status.ok()) co_return status;
  }
  co_return Status{};
}

}  // namespace thalweg
