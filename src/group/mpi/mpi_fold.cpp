#include "group/mpi/mpi_fold.hpp"

#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "group/mpi/mpi_transfers.hpp"
#include "group/mpi/mpi_turn.hpp"
#include "os/wait.hpp"

namespace thalweg {

namespace {

// A message: the leaver, then records. Up the tree one record, of a subtree; down the tree two, of the lower ranks
// and of all. When a rank has left, the records are invalid and may be missing.
struct FoldPacket {
  Leaver leaver;
  alignas(std::max_align_t) std::array<std::byte, 2 * Folding::kMost> records;

  MpiMessage message(std::size_t record_bytes, int peer) {
    return {this, offsetof(FoldPacket, records) + record_bytes, peer};
  }
};

}  // namespace

// The subtree of a rank consists of that rank and those that follow: a child with bit `bit` has ranks rank+bit and
// up. The record joined before a child covers the ranks between the two, so joining stays in rank order.
//
// Every rank sends its parent one packet and gets one. When a rank has left, the packets name it: its subtree and its
// parent receive this first, and all ranks in the end. Ranks that have left receive it, too, so that no packet stays
// unreceived.
Op<Result<Leaver>> mpi_fold(const MpiChannel& channel, void* mine, void* before, Folding how) {
  const int rank = channel.rank;
  const int size = channel.size;
  const std::size_t bytes = how.bytes;
  std::vector<std::byte> between;  // ranks between this one and each child, lowest first
  FoldPacket packet{};
  std::byte* const first = packet.records.data();
  Leaver leaver;
  int bit = 1;
  for (; bit < size && (rank & bit) == 0; bit *= 2) {
    if (rank + bit >= size) continue;
    const auto* joined = static_cast<const std::byte*>(mine);
    between.insert(between.end(), joined, joined + bytes);
    TW_CO_RETURN_IF_ERROR(co_await mpi_receive(channel, packet.message(bytes, rank + bit), "fold"));
    if (packet.leaver.call != Call::none) leaver = packet.leaver;
    if (leaver.call == Call::none) how.join(mine, first);
  }
  if (rank > 0) {
    packet.leaver = leaver;
    std::memcpy(first, mine, bytes);
    TW_CO_RETURN_IF_ERROR(co_await mpi_send(channel, packet.message(bytes, rank - bit), "fold"));
    TW_CO_RETURN_IF_ERROR(co_await mpi_receive(channel, packet.message(2 * bytes, rank - bit), "fold"));
    if (packet.leaver.call != Call::none) leaver = packet.leaver;
    std::memcpy(before, first, bytes);
    std::memcpy(mine, first + bytes, bytes);
  }
  for (bit /= 2; bit > 0; bit /= 2) {
    if (rank + bit >= size) continue;
    const std::byte* const lower = between.data() + between.size() - bytes;
    packet.leaver = leaver;
    std::memcpy(first, rank > 0 ? static_cast<const std::byte*>(before) : lower, bytes);
    if (rank > 0) how.join(first, lower);
    std::memcpy(first + bytes, mine, bytes);
    between.resize(between.size() - bytes);
    const Status status = co_await mpi_send(channel, packet.message(2 * bytes, rank + bit), "fold");
    // Once a rank has left, a failed send does not end the loop: the other children must receive the leaver.
    if (!status.ok() && leaver.call == Call::none) co_return status;
  }
  co_return leaver;
}

namespace {

// Packets, requests and channel of a rank that has left, kept until its neighbours have answered.
struct LeftFold {
  static constexpr std::size_t kMostNeighbours = 32;  // a parent and the children

  LeftFold(const MpiChannel& left, const Leaver& leaver) : channel(left), told{leaver, {}} {}

  const MpiChannel channel;
  FoldPacket told;
  std::size_t n = 0;
  std::array<FoldPacket, kMostNeighbours> answers;
  std::array<MPI_Request, 2 * kMostNeighbours> requests;

  void add(int neighbour) {
    (void)answers[n].message(2 * Folding::kMost, neighbour).receive(channel, &requests[2 * n]);
    (void)told.message(0, neighbour).send(channel, &requests[2 * n + 1]);
    ++n;
  }
  // Cancels when no answer can come; returns whether nothing is in flight then.
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
auto& left_folds = *new std::vector<std::unique_ptr<LeftFold>>;  // guarded by left_mutex; never destroyed

}  // namespace

void free_left_folds(bool all) noexcept {
  constexpr int kMostWaits = 100;  // of a millisecond each, for answers in flight
  const std::lock_guard lock(left_mutex);
  int waits = 0;
  std::erase_if(left_folds, [&](const std::unique_ptr<LeftFold>& fold) {
    bool answered = fold->is_answered();
    for (; !answered && all && waits < kMostWaits; ++waits) {
      sleep_for(std::chrono::milliseconds(1));
      answered = fold->is_answered();
    }
    return answered || (all && fold->cancel());  // else it is kept: MPI may still read the buffers
  });
}

void leave_mpi_fold(const MpiChannel& channel, Leaver leaver) noexcept {
  const MpiTurn turn;
  free_left_folds(false);
  auto fold = std::make_unique<LeftFold>(channel, leaver);
  const int rank = channel.rank;
  const int size = channel.size;
  int bit = 1;
  for (; bit < size && (rank & bit) == 0; bit *= 2)
    if (rank + bit < size) fold->add(rank + bit);
  if (rank > 0) fold->add(rank - bit);
  const std::lock_guard lock(left_mutex);
  left_folds.push_back(std::move(fold));
}

}  // namespace thalweg
