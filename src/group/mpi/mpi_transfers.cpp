#include "group/mpi/mpi_transfers.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "async/callers.hpp"
#include "async/last_words.hpp"
#include "group/mpi/mpi_end.hpp"
#include "group/mpi/mpi_turn.hpp"
#include "os/address_space.hpp"

namespace thalweg {

namespace {

constexpr std::size_t kSmall = std::size_t{64} << 10;  // without that nothing goes on
constexpr std::size_t kMapped = std::size_t{8} << 20;  // more than UCX maps at a time
constexpr std::chrono::seconds kWithoutAny{10};
constexpr std::chrono::seconds kWithLittle{60};
std::atomic<int> wait_divisor{1};

// MPI moves data only while it is called, hence the short limit.
constexpr Backoff::Limits kLimits{.longest = std::chrono::microseconds(200)};

struct Polled {
  MpiCall call;
  const char* what;
  MPI_Request request = MPI_REQUEST_NULL;
  bool made = false;
  Status status = {};
  Backoff backoff{kLimits};
  VainWait vain_wait = {};

  static bool ready(void* self) {
    auto& polled = *static_cast<Polled*>(self);
    if (mpi_ended()) {
      polled.status = or_out_of_memory(mpi_is_gone);
      return true;
    }
    const MpiTurn turn;
    if (!turn.is_mine()) return false;
    const bool done = polled.advance();
    if (!done) polled.vain_wait.looked_in_vain(polled.what);
    return done;
  }
  static void block(void* self) { static_cast<Polled*>(self)->backoff.wait(); }

 private:
  bool advance() {
    int error = MPI_SUCCESS;
    if (!std::exchange(made, true)) error = call(&request);
    int done = request == MPI_REQUEST_NULL ? 1 : 0;
    if (error == MPI_SUCCESS && done == 0) error = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    status = mpi_error(error, what);
    return done != 0 || error != MPI_SUCCESS;
  }
};

bool has_memory() { return std::unique_ptr<std::byte[]>(new (std::nothrow) std::byte[kSmall]) != nullptr; }

}  // namespace

void VainWait::shorten(int divisor) { wait_divisor.store(divisor, std::memory_order_relaxed); }

void VainWait::looked_in_vain(const char* what) {
  if (++looks_ % kLooks != 0) return;
  const auto now = Clock::now();
  if (begin_ == Clock::time_point{}) begin_ = now;
  const auto waited = (now - begin_) * wait_divisor.load(std::memory_order_relaxed);
  const bool starved = waited > kWithoutAny && !has_memory();
  if (!starved && (waited <= kWithLittle || can_map(kMapped))) return;
  std::array<char, 128> line{};
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - begin_).count();
  (void)std::snprintf(line.data(), line.size(), "out of memory: MPI has completed nothing for %lld s (%s)",
                      static_cast<long long>(seconds), what);
  end_in_call(line.data());
}

Status mpi_error(int code, const char* what) noexcept {
  if (code == MPI_SUCCESS) return {};
  char text[MPI_MAX_ERROR_STRING + 1] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  if (!can_map(kMapped)) {
    std::array<char, 384> line{};
    std::replace(text, text + length, '\n', ' ');
    (void)std::snprintf(line.data(), line.size(), "out of memory: MPI failed in a %s (%.300s)", what, text);
    end_in_call(line.data());
  }
  return or_out_of_memory(
      [&] { return Status::error(Code::io_error, std::string("MPI failed in a ") + what + ": " + text); });
}

Op<Status> mpi_finish(MpiCall call, const char* what) {
  is_a_caller();
  Polled polled{call, what};
  co_await Until{{Polled::ready, Polled::block, &polled}};
  co_return std::move(polled.status);
}

MpiTransfers::MpiTransfers(MPI_Comm comm, int tag, int message_limit, std::size_t window)
    : comm_(comm), tag_(tag), limit_(message_limit), window_(window), backoff_(kLimits) {}

void MpiTransfers::send(ByteView data, TaskRank to) {
  // MPI before 4.1 asks for non-const memory in places; it is only read.
  add(const_cast<std::byte*>(data.data()), data.size(), to, true);
}

void MpiTransfers::receive(std::span<std::byte> into, TaskRank from) { add(into.data(), into.size(), from, false); }

void MpiTransfers::add(std::byte* data, std::size_t bytes, TaskRank peer, bool sends) {
  while (bytes > 0) {
    const std::size_t length = std::min(bytes, static_cast<std::size_t>(limit_));
    pieces_.push_back({data, static_cast<int>(length), static_cast<int>(peer), sends});
    data += length;
    bytes -= length;
  }
}

void MpiTransfers::reserve() {
  const std::size_t most = window_ == 0 ? pieces_.size() : std::min(window_, pieces_.size());
  active_.reserve(most);
  finished_.reserve(most);
}

void MpiTransfers::advance() {
  while (next_ < pieces_.size() && (window_ == 0 || active_.size() < window_)) {
    const Piece& piece = pieces_[next_++];
    MPI_Request request = MPI_REQUEST_NULL;
    error_ = piece.sends ? MPI_Isend(piece.data, piece.bytes, MPI_BYTE, piece.peer, tag_, comm_, &request)
                         : MPI_Irecv(piece.data, piece.bytes, MPI_BYTE, piece.peer, tag_, comm_, &request);
    if (error_ != MPI_SUCCESS) return;
    active_.push_back(request);
  }
  if (active_.empty()) return;
  finished_.resize(active_.size());
  int count = 0;
  error_ =
      MPI_Testsome(static_cast<int>(active_.size()), active_.data(), &count, finished_.data(), MPI_STATUSES_IGNORE);
  if (error_ != MPI_SUCCESS) return;
  if (count == 0) return vain_wait_.looked_in_vain(what_);
  backoff_.reset();
  vain_wait_ = {};
  std::erase(active_, MPI_REQUEST_NULL);
}

bool MpiTransfers::ready(void* self) {
  auto& transfers = *static_cast<MpiTransfers*>(self);
  if (mpi_ended()) {
    transfers.status_ = or_out_of_memory(mpi_is_gone);
    return true;
  }
  const MpiTurn turn;
  if (!turn.is_mine()) return false;
  transfers.advance();
  transfers.status_ = mpi_error(transfers.error_, transfers.what_);
  return transfers.error_ != MPI_SUCCESS || (transfers.active_.empty() && transfers.next_ == transfers.pieces_.size());
}

void MpiTransfers::block(void* self) { static_cast<MpiTransfers*>(self)->backoff_.wait(); }

Op<Status> MpiTransfers::finish(const char* what) {
  is_a_caller();
  what_ = what;
  co_await Until{{ready, block, this}};
  co_return std::move(status_);
}

}  // namespace thalweg
