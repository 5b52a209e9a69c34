#include "group/mpi/mpi_transfers.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <new>

#include "async/callers.hpp"
#include "async/last_words.hpp"
#include "group/mpi/mpi_end.hpp"
#include "group/mpi/mpi_turn.hpp"
#include "os/address_space.hpp"

namespace thalweg {

namespace {

constexpr std::size_t kSmall = std::size_t{64} << 10;  // below this no message can progress
constexpr std::size_t kMapped = std::size_t{8} << 20;  // exceeds any one mapping of UCX
constexpr unsigned kLooks = 512;                       // polls between two readings of the clock
constexpr std::chrono::seconds kWithoutAny{10};
constexpr std::chrono::seconds kWithLittle{60};
std::atomic<int> wait_divisor{1};

// MPI moves data only within its calls, hence the short limit.
constexpr Backoff::Limits kLimits{.longest = std::chrono::microseconds(200)};

bool has_memory() { return std::unique_ptr<std::byte[]>(new (std::nothrow) std::byte[kSmall]) != nullptr; }

}  // namespace

MpiCommunicator::~MpiCommunicator() {
  if (mpi_ended()) return;
  const MpiTurn turn;
  MPI_Comm own = comm_;
  MPI_Comm_free(&own);
}

void MpiWait::shorten_vain_waits(int divisor) { wait_divisor.store(divisor, std::memory_order_relaxed); }

void MpiWait::looked_in_vain() {
  if (++looks_ % kLooks != 0) return;
  const auto now = std::chrono::steady_clock::now();
  if (begin_ == decltype(begin_){}) begin_ = now;
  const auto waited = (now - begin_) * wait_divisor.load(std::memory_order_relaxed);
  const bool starved = waited > kWithoutAny && !has_memory();
  if (!starved && (waited <= kWithLittle || can_map(kMapped))) return;
  std::array<char, 128> line{};
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - begin_).count();
  (void)std::snprintf(line.data(), line.size(), "out of memory: MPI has completed nothing for %lld s (%s)",
                      static_cast<long long>(seconds), what_);
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
  return Status::error(Code::io_error, "MPI failed in a {}: {}", what, text);
}

MpiWait::MpiWait(const char* what) : what_(what), backoff_(kLimits) { is_a_caller(); }

void MpiWait::got_on() {
  backoff_.reset();
  looks_ = 0;
  begin_ = {};
}

bool MpiWait::ready(void* self) {
  auto& wait = *static_cast<MpiWait*>(self);
  if (mpi_ended()) {
    wait.status_ = mpi_is_gone();
    return true;
  }
  const MpiTurn turn(std::try_to_lock);
  if (!turn.is_mine()) return false;
  int error = MPI_SUCCESS;
  const bool done = wait.advance(error);
  wait.status_ = mpi_error(error, wait.what_);
  if (done || error != MPI_SUCCESS) return true;
  wait.looked_in_vain();
  return false;
}

void MpiTransfers::add(std::byte* data, std::size_t bytes, TaskRank peer, std::vector<MpiMessage>& messages) const {
  while (bytes > 0) {
    const std::size_t length = std::min(bytes, limit_);
    messages.push_back({data, length, static_cast<int>(peer)});
    data += length;
    bytes -= length;
  }
}

void MpiTransfers::reserve() {
  const std::size_t most = window_ == 0 ? n_messages() : std::min(window_, n_messages());
  active_.reserve(most);
  finished_.reserve(most);
}

int MpiTransfers::start_next() {
  const std::size_t i = next_++;
  MPI_Request request = MPI_REQUEST_NULL;
  const int error = i < receives_.size() ? receives_[i].receive(channel_, &request)
                                         : sends_[i - receives_.size()].send(channel_, &request);
  if (error == MPI_SUCCESS) active_.push_back(request);
  return error;
}

bool MpiTransfers::advance(int& error) {
  while (next_ < n_messages() && (window_ == 0 || active_.size() < window_)) {
    error = start_next();
    if (error != MPI_SUCCESS) return true;
  }
  if (active_.empty()) return true;
  finished_.resize(active_.size());
  int count = 0;
  error = MPI_Testsome(static_cast<int>(active_.size()), active_.data(), &count, finished_.data(), MPI_STATUSES_IGNORE);
  if (error != MPI_SUCCESS || count == 0) return false;
  got_on();
  std::erase(active_, MPI_REQUEST_NULL);
  return active_.empty() && next_ == n_messages();
}

}  // namespace thalweg
