// The threads that make one collective call together: who they are, and what they share while it lasts.
//
// The library is linked to no OpenMP runtime; it asks the one of the program, by what compilers make of a construct of
// OpenMP: a loop whose threads share memory with libgomp, `single copyprivate` with Clang's libomp. One thread finds a
// Team, and all threads of the innermost region get its address. So a Team is used by one operation at a time and
// nothing is ever looked up by region: nested regions, several roots and any number of operations under way cannot mix.
// Design: docs/design/omp_file.md.
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

// One thread's part. Two cache lines of its own, as neighbours write at the same time.
struct alignas(128) Seat {
  tw_group* group = nullptr;
  tw_extent one = {};
  std::vector<tw_extent> list;
  // Of a nonblocking operation:
  tw_request* request = nullptr;  // nullptr: this part is complete
  tw_status status = TW_OK;
  int os_errno = 0;
  std::array<char, 256> message = {};  // of the failure
  std::int64_t moved = 0;

  // What the call of the library said that has just returned on this thread, perhaps another one than the seat's own.
  void keep(tw_status said);
};

// The calls that threads of a region tell apart: all that begin a transfer are one, all that make one at once another.
struct Call {
  const char* name;
  bool begins_as_access = false;           // where there is a file, the first thing that threads do together
  tw_status (*clear_up)(Team&) = nullptr;  // by the last thread to leave
};

struct Team {
  // Of one operation. The thread that comes first fills it before the others see the team; after that thread 0 alone
  // writes, and the others read behind the next agreement.
  struct Shared {
    const Call* call = nullptr;       // of the thread that came first
    std::int64_t first = 0;           // its number
    const void* arguments = nullptr;  // of the thread that came first, which stays until the first agreement is over
    int fd = -1;                      // what that thread passed
    // Its file, referenced; nullptr: it passed no descriptor of ours. A nonblocking operation keeps it until it is
    // over, as closing would take the file from under it.
    OpenFile* file = nullptr;
    bool locked = false;  // the file is locked for this operation
    tw_direction direction = TW_ACCESS_READ;
    std::int64_t request = 0;   // the number of this operation; of the one that is waited for
    bool has_request = false;   // of a wait: the thread that came first named one
    Team* operation = nullptr;  // the one that is waited for
    std::int64_t claimed = 0;   // its number
    bool complete = false;      // it is over
    std::int64_t value = 0;     // what thread 0 found out
  };

  explicit Team(std::int64_t tasks);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  const std::int64_t size;
  const std::unique_ptr<Seat[]> seats;
  bool whole = false;  // every seat has its group
  Shared shared;
  // Threads in the call. Each releases what it wrote; the last acquires and clears up.
  alignas(128) std::atomic<std::int64_t> inside{0};
  // Threads that have come to the call. Sequentially consistent: before the look for sleepers.
  std::atomic<int> come{0};
  // Of a nonblocking operation: 1 when the last thread has left the call that began it. Release, acquire.
  std::atomic<int> begun{0};
  bool claimed = false;   // somebody waits for this operation; guarded by the mutex of the requests
  Team* below = nullptr;  // in the pool
};

struct Place {
  std::int64_t rank;
  std::int64_t size;
};

// One thread in one call. It is made by all threads of the region, and each ends it with leave().
class Meeting {
 public:
  // `prepare(team)` is run by the thread that comes first, before the others go on.
  template <class Prepare>
  Meeting(const Call& call, const Prepare& prepare) : place_(find_place()), call_(call) {
    if (place_.size > 1) team_ = can_meet() ? meet() : no_team();
    if (team_ == nullptr) come_first(prepare);
    if (!absent()) have_come();
  }

  // This thread makes another call than the one that came first. It goes on as if it made that one, with a complaint,
  // so that all are told (refuse() of outcome.hpp).
  bool is_astray() const { return team_->shared.call != &call_; }
  const Call& call() const { return call_; }

  bool absent() const { return team_ == no_team(); }  // nothing can be done, by any thread
  static int why_absent();                            // as errno
  std::int64_t rank() const { return place_.rank; }
  std::int64_t size() const { return place_.size; }
  Team& team() { return *team_; }
  Team::Shared& shared() { return team_->shared; }
  Seat& seat() { return team_->seats[static_cast<std::size_t>(place_.rank)]; }
  tw_group* group() { return seat().group; }

  // By thread 0: until all threads have come. Before it takes what others may wait for: whoever holds that must need
  // nobody who is still to come, as that thread may be waiting for it in an inner region.
  void await_all();
  // By thread 0: keeps other teams from the file until the last thread of this one has left.
  void lock_file() {
    await_all();
    shared().file->busy.lock();
    shared().locked = true;
  }

  // The last thread to leave clears up and gives the team back. What clearing up says, to that thread.
  tw_status leave() {
    if (!last_inside()) return TW_OK;
    const auto clear_up = team_->shared.call->clear_up;
    const tw_status status = clear_up != nullptr ? clear_up(*team_) : TW_OK;
    give_team(team_);
    return status;
  }
  // Without giving the team back: it stays with a nonblocking operation.
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
  static Team* take_team(std::int64_t size);  // no_team() without memory
  // The team that the thread which came first presented, once it has. nullptr: this one came first, the others wait.
  Team* meet();
  void present(Team* team);
  static bool can_meet();  // the OpenMP runtime of the program has what that needs
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
  std::atomic<std::uintptr_t>* desk_ = nullptr;  // where the team is presented; nullptr: the runtime hands it over
};

// Ends what an operation holds of its file: the lock, and the reference. What closing says where that was the last one.
tw_status let_go_of_file(Team& team);

}  // namespace thalweg::omp_file
