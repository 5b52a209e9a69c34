#include "group/mpi/mpi_fold.hpp"

#include <array>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

#include "async/frame_memory.hpp"
#include "group/mpi/mpi_transfers.hpp"
#include "group/mpi/mpi_turn.hpp"
#include "os/wait.hpp"

namespace thalweg {

namespace {

using Records = FrameVector<std::byte>;  // as a frame: no task may fail alone here

enum class Way { send, receive };

// A message: who has left, then the record. Where somebody has left the record says nothing and may be missing.
struct FoldPacket {
  Leaver leaver;
  Folding::Record record;
};
static_assert(offsetof(FoldPacket, record) == sizeof(Leaver));

Op<Status> move_packet(MPI_Comm comm, int tag, Way way, FoldPacket& packet, std::size_t record_bytes, int peer) {
  const int n = static_cast<int>(sizeof packet.leaver + record_bytes);
  auto move = [&](MPI_Request* request) {
    return way == Way::send ? MPI_Isend(&packet, n, MPI_BYTE, peer, tag, comm, request)
                            : MPI_Irecv(&packet, n, MPI_BYTE, peer, tag, comm, request);
  };
  co_return co_await mpi_finish(move, "fold");
}

FoldPacket of_leaver(const Leaver& leaver) {
  FoldPacket packet;
  packet.leaver = leaver;
  return packet;
}

}  // namespace

// The subtree of a rank is that rank and those that follow: a child with bit `bit` has ranks rank+bit and up. So what
// has been joined before a child is what lies between the two, and joining stays in rank order.
//
// Every rank sends its parent one packet. A parent sends each child two, or one where somebody has left: that reaches
// all ranks, from the one that has left down and by its parent. Those that have left themselves are told, too, so that
// all packets are received in the end.
Op<Status> mpi_fold(MpiRanks ranks, int tag, FoldOf what) {
  const auto [comm, rank, size] = ranks;
  const std::size_t bytes = what.how.bytes;
  Records between;  // and each child, lowest first
  FoldPacket packet{};
  Leaver leaver;
  int bit = 1;
  for (; bit < size && (rank & bit) == 0; bit *= 2) {
    if (rank + bit >= size) continue;
    const auto* joined = static_cast<const std::byte*>(what.mine);
    between.insert(between.end(), joined, joined + bytes);
    const Status status = co_await move_packet(comm, tag, Way::receive, packet, bytes, rank + bit);
    if (!status.ok()) co_return status;
    if (packet.leaver.call != Call::none) leaver = packet.leaver;
    if (leaver.call == Call::none) what.how.join(what.mine, &packet.record);
  }
  if (rank > 0) {
    packet.leaver = leaver;
    std::memcpy(&packet.record, what.mine, bytes);
    Status status = co_await move_packet(comm, tag, Way::send, packet, bytes, rank - bit);
    if (status.ok()) status = co_await move_packet(comm, tag, Way::receive, packet, bytes, rank - bit);
    if (packet.leaver.call != Call::none) leaver = packet.leaver;
    std::memcpy(what.before, &packet.record, bytes);
    if (status.ok() && leaver.call == Call::none) {
      status = co_await move_packet(comm, tag, Way::receive, packet, bytes, rank - bit);
      std::memcpy(what.mine, &packet.record, bytes);
    }
    if (!status.ok()) co_return status;
  }
  *what.leaver = leaver;
  for (bit /= 2; bit > 0; bit /= 2) {
    if (rank + bit >= size) continue;
    const std::byte* lower = between.data() + between.size() - bytes;
    packet = of_leaver(leaver);
    std::memcpy(&packet.record, rank > 0 ? static_cast<const std::byte*>(what.before) : lower, bytes);
    if (rank > 0) what.how.join(&packet.record, lower);
    between.resize(between.size() - bytes);
    Status status = co_await move_packet(comm, tag, Way::send, packet, bytes, rank + bit);
    if (status.ok() && leaver.call == Call::none) {
      std::memcpy(&packet.record, what.mine, bytes);
      status = co_await move_packet(comm, tag, Way::send, packet, bytes, rank + bit);
    }
    if (!status.ok()) co_return status;
  }
  co_return Status{};
}

namespace {

// Packets, requests and communicator of a rank that has left, kept until its neighbours have answered.
struct LeftFold {
  static constexpr std::size_t kMostNeighbours = 32;  // a parent and the children

  MPI_Comm comm = MPI_COMM_NULL;
  FoldPacket told;
  std::size_t n = 0;
  std::array<FoldPacket, kMostNeighbours> answers;
  std::array<MPI_Request, 2 * kMostNeighbours> requests;
  LeftFold* next = nullptr;

  void add(int neighbour, int tag) {
    MPI_Request* const two = &requests[2 * n];
    (void)MPI_Irecv(&answers[n], sizeof(FoldPacket), MPI_BYTE, neighbour, tag, comm, &two[0]);
    (void)MPI_Isend(&told, sizeof told.leaver, MPI_BYTE, neighbour, tag, comm, &two[1]);
    ++n;
  }
  // Nobody answers any more. Whether nothing is under way then.
  bool cancel() {
    for (std::size_t i = 0; i < 2 * n; i += 2) {
      if (requests[i] == MPI_REQUEST_NULL) continue;
      (void)MPI_Cancel(&requests[i]);
      (void)MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    }
    return is_answered();
  }
  bool is_answered() {
    int all = 0;
    (void)MPI_Testall(static_cast<int>(2 * n), requests.data(), &all, MPI_STATUSES_IGNORE);
    return all != 0;
  }
};

std::mutex left_mutex;
LeftFold* left_folds = nullptr;  // guarded by left_mutex

}  // namespace

void free_left_folds(bool all) noexcept {
  constexpr int kMostWaits = 100;  // of a millisecond, for those that are about to answer
  const std::lock_guard lock(left_mutex);
  int waits = 0;
  for (LeftFold** at = &left_folds; *at != nullptr;) {
    LeftFold* const fold = *at;
    bool answered = fold->is_answered();
    for (; !answered && all && waits < kMostWaits; ++waits) {
      sleep_for(std::chrono::milliseconds(1));
      answered = fold->is_answered();
    }
    if (!answered && all) answered = fold->cancel();
    if (!answered) {  // at the end: what is being sent stays where it is
      at = &fold->next;
      continue;
    }
    (void)MPI_Comm_free(&fold->comm);
    *at = fold->next;
    free_frame_memory(fold);
  }
}

void leave_mpi_fold(MpiRanks ranks, int tag, Leaver leaver) noexcept {
  const MpiTurn turn(MpiTurn::Wait{});
  free_left_folds(false);
  auto* const fold = new (take_frame_memory(sizeof(LeftFold))) LeftFold;
  fold->comm = ranks.comm;
  fold->told = of_leaver(leaver);
  int bit = 1;
  for (; bit < ranks.size && (ranks.rank & bit) == 0; bit *= 2)
    if (ranks.rank + bit < ranks.size) fold->add(ranks.rank + bit, tag);
  if (ranks.rank > 0) fold->add(ranks.rank - bit, tag);
  const std::lock_guard lock(left_mutex);
  fold->next = std::exchange(left_folds, fold);
}

}  // namespace thalweg
