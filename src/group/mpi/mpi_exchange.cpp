#include "group/mpi/mpi_exchange.hpp"

#include <algorithm>
#include <utility>

#include "async/callers.hpp"
#include "group/memory.hpp"
#include "group/mpi/mpi_end.hpp"
#include "group/mpi/mpi_transfers.hpp"
#include "group/mpi/mpi_turn.hpp"

namespace thalweg {

namespace {

class LengthExchange {
 public:
  // Without memory for it nothing is sent.
  LengthExchange(MPI_Comm comm, int tag, const std::vector<Message>& outgoing);

  static bool ready(void* self);
  const Status& status() const { return status_; }
  bool had_memory() const { return had_memory_; }
  std::vector<MpiLength> take() { return std::move(received_); }

 private:
  void send_all();
  bool advance();
  bool receive_one();
  void enter_barrier_when_sent();

  const MPI_Comm comm_;
  const int tag_;
  const std::vector<Message>& outgoing_;
  std::vector<std::int64_t> lengths_;  // stay until the sends are complete
  std::vector<MPI_Request> sends_;
  bool started_ = false;
  MPI_Request barrier_ = MPI_REQUEST_NULL;
  bool in_barrier_ = false;
  std::vector<MpiLength> received_;
  int error_ = MPI_SUCCESS;
  bool had_memory_ = true;
  VainWait vain_wait_;
  Status status_;
};

LengthExchange::LengthExchange(MPI_Comm comm, int tag, const std::vector<Message>& outgoing)
    : comm_(comm), tag_(tag), outgoing_(outgoing) {
  had_memory_ = try_reserve(lengths_, outgoing.size()) && try_reserve(sends_, outgoing.size());
}

bool LengthExchange::ready(void* self) {
  auto& exchange = *static_cast<LengthExchange*>(self);
  if (mpi_ended()) {
    exchange.status_ = or_out_of_memory(mpi_is_gone);
    return true;
  }
  const MpiTurn turn;
  if (!turn.is_mine()) return false;
  const bool done = exchange.advance();
  exchange.status_ = mpi_error(exchange.error_, "exchange");
  if (!done) exchange.vain_wait_.looked_in_vain("exchange");
  return done;
}

void LengthExchange::send_all() {
  if (!had_memory_) return;
  for (const Message& message : outgoing_) lengths_.push_back(static_cast<std::int64_t>(message.data.size()));
  for (std::size_t i = 0; i < outgoing_.size() && error_ == MPI_SUCCESS; ++i) {
    const int peer = static_cast<int>(outgoing_[i].peer);
    sends_.push_back(MPI_REQUEST_NULL);
    error_ = MPI_Issend(&lengths_[i], 1, MPI_INT64_T, peer, tag_, comm_, &sends_.back());
  }
}

// Matched probe: with several threads in MPI nobody else can take the message between probe and receive.
bool LengthExchange::receive_one() {
  int found = 0;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  error_ = MPI_Improbe(MPI_ANY_SOURCE, tag_, comm_, &found, &message, &status);
  if (error_ != MPI_SUCCESS || found == 0) return false;
  std::int64_t bytes = 0;
  error_ = MPI_Mrecv(&bytes, 1, MPI_INT64_T, &message, MPI_STATUS_IGNORE);
  had_memory_ = had_memory_ && (received_.size() < received_.capacity() ||
                                try_reserve(received_, std::max<std::size_t>(2 * received_.size(), 8)));
  if (had_memory_) received_.push_back({status.MPI_SOURCE, bytes});
  return error_ == MPI_SUCCESS;
}

void LengthExchange::enter_barrier_when_sent() {
  int sent = 0;
  error_ = MPI_Testall(static_cast<int>(sends_.size()), sends_.data(), &sent, MPI_STATUSES_IGNORE);
  if (error_ != MPI_SUCCESS || sent == 0) return;
  error_ = MPI_Ibarrier(comm_, &barrier_);
  in_barrier_ = true;
}

bool LengthExchange::advance() {
  if (!std::exchange(started_, true)) send_all();
  while (error_ == MPI_SUCCESS && receive_one()) continue;
  if (error_ == MPI_SUCCESS && !in_barrier_) enter_barrier_when_sent();
  if (error_ != MPI_SUCCESS) return true;
  if (!in_barrier_) return false;
  int done = 0;
  error_ = MPI_Test(&barrier_, &done, MPI_STATUS_IGNORE);
  return done != 0 || error_ != MPI_SUCCESS;
}

}  // namespace

Op<Result<std::vector<MpiLength>>> mpi_exchange_lengths(MPI_Comm comm, int tag, const std::vector<Message>& outgoing,
                                                        bool& had_memory) {
  is_a_caller();
  LengthExchange exchange(comm, tag, outgoing);
  co_await Until{{LengthExchange::ready, nullptr, &exchange}};
  if (!exchange.status().ok()) co_return exchange.status();
  had_memory = exchange.had_memory();
  std::vector<MpiLength> received = exchange.take();
  std::stable_sort(received.begin(), received.end(),
                   [](const MpiLength& a, const MpiLength& b) { return a.source < b.source; });
  co_return received;
}

}  // namespace thalweg
