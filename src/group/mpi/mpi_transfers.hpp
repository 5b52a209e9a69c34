// Waits for MPI without blocking in it, and point-to-point transfers of any length.
//
// Invariant: a request started here is complete before its owner is destroyed, on failure too, except when MPI itself
// reports an error; the state of the communicator is unknown then.
#pragma once

#include <mpi.h>

#include <chrono>
#include <coroutine>
#include <cstddef>
#include <utility>
#include <vector>

#include "group/group.hpp"
#include "group/mpi/mpi_channel.hpp"
#include "os/backoff.hpp"

namespace thalweg {

// MPI's text for `code`. If the process cannot map 8 MiB of address space, an error ends the program: the other ranks
// wait in the call that failed here. Within a turn (mpi_turn.hpp).
Status mpi_error(int code, const char* what) noexcept;

// co_await: calls MPI in this thread's turns until its work is done; the driver resumes other coroutines in between.
// Returns the status.
//
// A wait in vain: MPI loses messages when an allocation fails, and reports no error: UCX drops messages in a segment of
// shared memory (4 MiB) that it cannot attach. So the program ends where such a loss is likely, since nothing has
// completed: after 10 s in a process that cannot map 64 KiB, after 60 s in one that cannot map 8 MiB of address space.
// Any other wait goes on: a rank may write for minutes while the others wait.
class MpiWait {
 public:
  // For tests: makes the limits of waits in vain `divisor` times shorter.
  static void shorten_vain_waits(int divisor);

  explicit MpiWait(const char* what);
  virtual ~MpiWait() = default;
  MpiWait(const MpiWait&) = delete;
  MpiWait& operator=(const MpiWait&) = delete;

  bool await_ready() { return ready(this); }
  void await_suspend(std::coroutine_handle<> h) { Driver::current().park({ready, block, this}, h); }
  Status await_resume() { return std::move(status_); }

 protected:
  // Returns true when complete. An MPI error also ends the wait.
  virtual bool advance(int& error) = 0;
  // Restarts the wait after a completion.
  void got_on();

 private:
  static bool ready(void* self);
  static void block(void* self) { static_cast<MpiWait*>(self)->backoff_.wait(); }
  void looked_in_vain();

  const char* const what_;
  Status status_;
  // Times the wait since the last completion.
  Backoff backoff_;
  unsigned looks_ = 0;
  std::chrono::steady_clock::time_point begin_{};
};

// co_await: makes one MPI call, and completes the requests that it starts, two at most.
template <class Call>
class MpiFinish final : public MpiWait {
 public:
  MpiFinish(Call call, const char* what) : MpiWait(what), call_(std::move(call)) {}

 private:
  bool advance(int& error) override {
    if (!std::exchange(made_, true)) error = call_(requests_);
    int done = 0;
    if (error == MPI_SUCCESS) error = MPI_Testall(2, requests_, &done, MPI_STATUSES_IGNORE);
    return done != 0;
  }

  Call call_;
  bool made_ = false;
  MPI_Request requests_[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
};
template <class Call>
MpiFinish<Call> mpi_finish(Call call, const char* what) {
  return {std::move(call), what};
}

// MPI before 4.1 takes non-const memory where it only reads.
struct MpiMessage {
  void* data;
  std::size_t bytes;
  int peer;

  int send(const MpiChannel& by, MPI_Request* request) const {
    return MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, peer, by.tag, by.comm(), request);
  }
  int receive(const MpiChannel& by, MPI_Request* request) const {
    return MPI_Irecv(data, static_cast<int>(bytes), MPI_BYTE, peer, by.tag, by.comm(), request);
  }
};

// co_await: sends one message; `by` must stay alive.
inline auto mpi_send(const MpiChannel& by, MpiMessage out, const char* what) {
  return mpi_finish([&by, out](MPI_Request* requests) { return out.send(by, requests); }, what);
}
inline auto mpi_receive(const MpiChannel& by, MpiMessage in, const char* what) {
  return mpi_finish([&by, in](MPI_Request* requests) { return in.receive(by, requests); }, what);
}
inline auto mpi_swap(const MpiChannel& by, MpiMessage out, MpiMessage in, const char* what) {
  const auto both = [&by, out, in](MPI_Request* requests) {
    const int error = in.receive(by, &requests[0]);
    return error == MPI_SUCCESS ? out.send(by, &requests[1]) : error;
  };
  return mpi_finish(both, what);
}

// co_await: the sends and receives of one collective step. Between two tasks they match in the order in which they were
// added.
class MpiTransfers final : public MpiWait {
 public:
  // At most `window` messages at a time (0: no limit). A task that both sends and receives must not set a limit.
  MpiTransfers(const MpiChannel& channel, int message_limit, const char* what, std::size_t window = 0)
      : MpiWait(what), channel_(channel), limit_(static_cast<std::size_t>(message_limit)), window_(window) {}

  // `data` and `into` stay alive until all are complete. May throw std::bad_alloc, as may reserve(), which allocates
  // for the wait.
  void send(ByteView data, TaskRank to) { add(const_cast<std::byte*>(data.data()), data.size(), to, sends_); }
  void receive(std::span<std::byte> into, TaskRank from) { add(into.data(), into.size(), from, receives_); }
  void reserve();
  // Without messages MPI is not called, and no turn is taken.
  bool await_ready() { return n_messages() == 0 || MpiWait::await_ready(); }

 private:
  void add(std::byte* data, std::size_t bytes, TaskRank peer, std::vector<MpiMessage>& messages) const;
  std::size_t n_messages() const { return receives_.size() + sends_.size(); }
  int start_next();
  bool advance(int& error) override;

  const MpiChannel& channel_;
  const std::size_t limit_;
  const std::size_t window_;
  std::vector<MpiMessage> receives_, sends_;  // started in this order
  std::size_t next_ = 0;                      // first one not yet started
  std::vector<MPI_Request> active_;           // started and not complete
  std::vector<int> finished_;                 // scratch of MPI_Testsome
};

}  // namespace thalweg
