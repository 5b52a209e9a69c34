// The threads of one collective call, and the state that they share.
//
// The library is linked to no OpenMP runtime; it uses the program's, through the code that compilers generate for an
// OpenMP construct: a loop whose threads share memory with libgomp, `single copyprivate` with Clang's libomp. One
// thread chooses a Team, and all threads of the innermost region get its address. A Team serves one operation at a time
// and is never looked up by region, so that nested regions, several root threads and any number of outstanding
// operations cannot interfere. Design: docs/design/omp_file.md.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "omp_file/open_files.hpp"
#include "thalweg/file.h"

namespace thalweg::omp_file {

struct Team;

// State of one thread. Two cache lines, as neighbours write concurrently.
struct alignas(128) Seat {
  tw_group* group = nullptr;
  tw_extent one = {};
  std::vector<tw_extent> list;
  // For a nonblocking operation:
  tw_request* request = nullptr;  // nullptr: this part is complete
  tw_status status = TW_OK;
  int os_errno = 0;
  std::array<char, 256> message = {};  // of the failure
  std::size_t moved = 0;

  // Keeps the status of the library call that has just returned on this thread, which may belong to another seat.
  void keep(tw_status said);
};

// The kinds of calls that may not be mixed in a region: all that start a transfer are one, all that make one blocking
// are another.
struct Call {
  const char* name;
  bool begins_as_access = false;           // with a valid file, the first collective step is an access
  tw_status (*clear_up)(Team&) = nullptr;  // called by the last thread to leave
};

struct Team {
  // State of one operation. The first thread fills it before the others see the team; afterwards only thread 0 writes,
  // and the others read after the next agreement.
  struct Shared {
    const Call* call = nullptr;       // of the first thread
    std::int64_t first = 0;           // number of the first thread
    const void* arguments = nullptr;  // of the first thread, valid until the first agreement ends
    int fd = -1;                      // descriptor passed by the first thread
    // Its file, with a reference; nullptr for an unknown descriptor. A nonblocking operation keeps it until it ends, as
    // a close must not free the file meanwhile.
    OpenFile* file = nullptr;
    bool locked = false;  // the file is locked for this operation
    tw_direction direction = TW_ACCESS_READ;
    std::int64_t request = 0;   // number of this operation, or of the one waited for
    bool has_request = false;   // wait: the first thread passed a request
    Team* operation = nullptr;  // the operation waited for
    std::int64_t claimed = 0;   // its number
    bool complete = false;      // it has ended
    std::int64_t value = 0;     // result of thread 0
  };

  explicit Team(std::int64_t tasks);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  const std::int64_t size;
  const std::unique_ptr<Seat[]> seats;
  bool whole = false;  // every seat has a group
  Shared shared;
  // Threads in the call. Each releases its writes; the last one acquires them and clears up.
  alignas(128) std::atomic<std::int64_t> inside{0};
  // Threads that have arrived. Sequentially consistent: stored before checking for sleepers.
  std::atomic<int> come{0};
  // Nonblocking operation: 1 when the last thread has left the starting call. Release, acquire.
  std::atomic<int> begun{0};
  bool claimed = false;   // a thread waits for this operation; guarded by the mutex of the requests
  Team* below = nullptr;  // in the pool
};

struct Place {
  std::int64_t rank;
  std::int64_t size;
};

// One thread in one call. All threads of the region construct it, and each ends it with leave().
class Meeting {
 public:
  // The first thread runs `prepare(team)` before the others continue.
  template <class Prepare>
  Meeting(const Call& call, const Prepare& prepare) : place_(find_place()), call_(call) {
    if (place_.size > 1) team_ = can_meet() && !is_task() ? meet() : no_team();
    if (team_ == nullptr) come_first(prepare);
    if (!absent()) have_come();
  }

  // The call goes no further, refuse() of outcome.hpp says why: the threads cannot meet, or this thread's call differs
  // from the first one.
  bool is_refused() const { return absent() || team_->shared.call != &call_; }
  const Call& call() const { return call_; }

  bool absent() const { return team_ == no_team(); }  // the threads cannot meet, on any thread
  static bool can_meet();                             // whether the OpenMP runtime has the required functions
  static bool is_task();  // an explicit task, in which other threads do not join, as far as the runtime tells
  std::int64_t rank() const { return place_.rank; }
  std::int64_t size() const { return place_.size; }
  Team& team() { return *team_; }
  Team::Shared& shared() { return team_->shared; }
  Seat& seat() { return team_->seats[static_cast<std::size_t>(place_.rank)]; }
  tw_group* group() { return seat().group; }

  // Thread 0 waits until all threads have arrived. It does so before it takes a resource: the holder must not depend on
  // a thread still to come, which may wait for the resource in an inner region.
  void await_all();
  // Thread 0 locks the file until the last thread of this team has left.
  void lock_file() {
    await_all();
    shared().file->busy.lock();
    shared().locked = true;
  }

  // The last thread clears up, returns the team to the pool, and gets the status of clearing up.
  tw_status leave() {
    if (!last_inside()) return TW_OK;
    const auto clear_up = team_->shared.call->clear_up;
    const tw_status status = clear_up != nullptr ? clear_up(*team_) : TW_OK;
    give_team(team_);
    return status;
  }
  // Keeps the team, which belongs to a nonblocking operation.
  template <class ClearUp>
  void leave_to_operation(ClearUp&& clear_up) {
    if (!last_inside()) return;
    clear_up(*team_);
    team_->begun.store(1, std::memory_order_release);
  }

  static void give_team(Team* team);

 private:
  static Place find_place();
  static Team* no_team();
  static Team* take_team(std::int64_t size);  // no_team() when out of memory
  // The team presented by the first thread. nullptr: this thread is the first, the others wait.
  Team* meet();
  void present(Team* team);
  template <class Prepare>
  void come_first(const Prepare& prepare) {
    team_ = take_team(place_.size);
    if (!absent()) {
      team_->shared.call = &call_;
      team_->shared.first = place_.rank;
      prepare(*team_);
    }
    if (place_.size == 1) return;
    if (!absent()) begin_gathering();
    present(team_);
  }
  void begin_gathering();
  void have_come();
  bool last_inside() { return team_->inside.fetch_sub(1, std::memory_order_acq_rel) == 1; }

  Place place_;
  const Call& call_;
  Team* team_ = nullptr;
  std::atomic<std::uintptr_t>* desk_ = nullptr;  // place where the team is presented; nullptr: the runtime passes it
};

// Releases an operation's lock and reference of its file. Returns the status of the close for the last reference.
tw_status let_go_of_file(Team& team);

}  // namespace thalweg::omp_file
