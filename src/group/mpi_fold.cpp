#include "group/mpi_fold.hpp"

#include <array>
#include <cstring>
#include <vector>

#include "group/frame_memory.hpp"
#include "group/mpi_transfers.hpp"

namespace thalweg {

namespace {

using Record = std::array<std::byte, Folding::kMost>;
using Records = std::vector<std::byte, FrameAllocator<std::byte>>;  // as a frame: no task may fail alone here

Op<Status> send(MPI_Comm comm, int tag, const void* data, std::size_t bytes, int to) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, to, tag, comm, &request);
  co_return co_await mpi_finish(code, &request, "fold");
}

Op<Status> receive(MPI_Comm comm, int tag, void* data, std::size_t bytes, int from) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = MPI_Irecv(data, static_cast<int>(bytes), MPI_BYTE, from, tag, comm, &request);
  co_return co_await mpi_finish(code, &request, "fold");
}

}  // namespace

// The subtree of a rank is that rank and those that follow: a child with bit `bit` has ranks rank+bit and up. So what
// has been joined before a child is what lies between the two, and joining stays in rank order.
Op<Status> mpi_fold(MPI_Comm comm, int tag, void* mine, void* before, Folding how) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  Records between;  // and each child, lowest first
  Record other;
  int bit = 1;
  for (; bit < size && (rank & bit) == 0; bit *= 2) {
    if (rank + bit >= size) continue;
    const auto* joined = static_cast<const std::byte*>(mine);
    between.insert(between.end(), joined, joined + how.bytes);
    const Status status = co_await receive(comm, tag, other.data(), how.bytes, rank + bit);
    if (!status.ok()) co_return status;
    how.join(mine, other.data());
  }
  if (rank > 0) {
    Status status = co_await send(comm, tag, mine, how.bytes, rank - bit);
    if (status.ok()) status = co_await receive(comm, tag, before, how.bytes, rank - bit);
    if (status.ok()) status = co_await receive(comm, tag, mine, how.bytes, rank - bit);
    if (!status.ok()) co_return status;
  }
  for (bit /= 2; bit > 0; bit /= 2) {
    if (rank + bit >= size) continue;
    const std::byte* lower = between.data() + between.size() - how.bytes;
    if (rank > 0) {
      std::memcpy(other.data(), before, how.bytes);
      how.join(other.data(), lower);
    } else {
      std::memcpy(other.data(), lower, how.bytes);
    }
    between.resize(between.size() - how.bytes);
    Status status = co_await send(comm, tag, other.data(), how.bytes, rank + bit);
    if (status.ok()) status = co_await send(comm, tag, mine, how.bytes, rank + bit);
    if (!status.ok()) co_return status;
  }
  co_return Status{};
}

}  // namespace thalweg
