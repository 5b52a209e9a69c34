#include "group/mpi_exchange.hpp"

#include <algorithm>

#include "group/memory.hpp"
#include "group/mpi_transfers.hpp"

namespace thalweg {

namespace {

class LengthExchange {
 public:
  LengthExchange(MPI_Comm comm, int tag) : comm_(comm), tag_(tag) {}

  // Without memory for it nothing is sent.
  void send_all(const std::vector<Message>& outgoing);
  static bool ready(void* self) { return static_cast<LengthExchange*>(self)->advance(); }
  int error() const { return error_; }
  bool had_memory() const { return had_memory_; }
  std::vector<MpiLength> take() { return std::move(received_); }

 private:
  bool advance();
  bool receive_one();
  void enter_barrier_when_sent();

  const MPI_Comm comm_;
  const int tag_;
  std::vector<std::int64_t> lengths_;  // stay until the sends are complete
  std::vector<MPI_Request> sends_;
  MPI_Request barrier_ = MPI_REQUEST_NULL;
  bool in_barrier_ = false;
  std::vector<MpiLength> received_;
  int error_ = MPI_SUCCESS;
  bool had_memory_ = true;
};

void LengthExchange::send_all(const std::vector<Message>& outgoing) {
  had_memory_ = try_reserve(lengths_, outgoing.size()) && try_reserve(sends_, outgoing.size());
  if (!had_memory_) return;
  for (const Message& message : outgoing) lengths_.push_back(static_cast<std::int64_t>(message.data.size()));
  for (std::size_t i = 0; i < outgoing.size() && error_ == MPI_SUCCESS; ++i) {
    sends_.push_back(MPI_REQUEST_NULL);
    error_ = MPI_Issend(&lengths_[i], 1, MPI_INT64_T, static_cast<int>(outgoing[i].peer), tag_, comm_, &sends_.back());
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
  LengthExchange exchange(comm, tag);
  exchange.send_all(outgoing);
  co_await Until{{LengthExchange::ready, nullptr, &exchange}};
  if (exchange.error() != MPI_SUCCESS) co_return mpi_error(exchange.error(), "exchange");
  had_memory = exchange.had_memory();
  std::vector<MpiLength> received = exchange.take();
  std::stable_sort(received.begin(), received.end(),
                   [](const MpiLength& a, const MpiLength& b) { return a.source < b.source; });
  co_return received;
}

}  // namespace thalweg
