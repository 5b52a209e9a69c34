// Waiting for MPI without blocking in it, and point-to-point transfers of any length.
//
// Invariant: a request started here is complete before its owner is destroyed, on failure too, except when MPI itself
// reports an error; then nothing more can be said about the communicator.
#pragma once

#include <mpi.h>
#include <chrono>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "group/group.hpp"
#include "os/backoff.hpp"

namespace thalweg {

// The text of MPI for `code`; out of memory where there is none for the text. Where the process is refused 8 MiB of
// address space an error ends the program: the other ranks wait in the call that failed here. Within a turn
// (mpi_turn.hpp).
Status mpi_error(int code, const char* what) noexcept;

// A wait for MPI during which nothing completes. MPI loses messages when it is refused memory, and reports no error:
// UCX drops what arrives in a segment of shared memory (4 MiB) that it cannot attach. So the program ends where such a
// loss is likely: after 10 s in a process that is refused 64 KiB, after 60 s in one that is refused 8 MiB of address
// space. Any other wait goes on: a rank may well write for minutes while the others wait.
class VainWait {
 public:
  void looked_in_vain(const char* what);
  // For tests: `divisor` times shorter.
  static void shorten(int divisor);

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr unsigned kLooks = 512;  // between two looks at the clock
  unsigned looks_ = 0;
  Clock::time_point begin_{};
};

// A call of MPI, made when it is this thread's turn: the request, if there is one, is completed. Borrows the function.
class MpiCall {
 public:
  template <class Function>
    requires(!std::is_same_v<Function, MpiCall>)
  MpiCall(Function& function)
      : function_(&function),
        make_([](void* call, MPI_Request* request) -> int { return (*static_cast<Function*>(call))(request); }) {}
  int operator()(MPI_Request* request) const { return make_(function_, request); }

 private:
  void* function_;
  int (*make_)(void* function, MPI_Request* request);
};

// Makes the call and completes it. In the meantime the driver runs others.
Op<Status> mpi_finish(MpiCall call, const char* what);

// Sends and receives of one collective step. Between two tasks they match in the order in which they were added.
class MpiTransfers {
 public:
  // At most `window` messages at a time; a task that both sends and receives must not limit them (0: no limit).
  MpiTransfers(MPI_Comm comm, int tag, int message_limit, std::size_t window = 0);
  MpiTransfers(const MpiTransfers&) = delete;
  MpiTransfers& operator=(const MpiTransfers&) = delete;

  // `data` and `into` stay alive until finish() is done. May throw std::bad_alloc, as may reserve(), which takes what
  // finish() will need.
  void send(ByteView data, TaskRank to);
  void receive(std::span<std::byte> into, TaskRank from);
  void reserve();
  Op<Status> finish(const char* what);

 private:
  struct Piece {
    std::byte* data;
    int bytes;
    int peer;
    bool sends;
  };
  void add(std::byte* data, std::size_t bytes, TaskRank peer, bool sends);
  void advance();
  static bool ready(void* self);
  static void block(void* self);

  const MPI_Comm comm_;
  const int tag_;
  const int limit_;
  const std::size_t window_;
  std::vector<Piece> pieces_;
  std::size_t next_ = 0;             // first piece that is not started
  std::vector<MPI_Request> active_;  // started and not complete
  std::vector<int> finished_;        // scratch of MPI_Testsome
  int error_ = MPI_SUCCESS;
  const char* what_ = "";
  Status status_;
  Backoff backoff_;     // since something completed
  VainWait vain_wait_;  // since then, too
};

}  // namespace thalweg
