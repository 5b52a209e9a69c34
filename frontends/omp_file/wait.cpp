// Completion of nonblocking operations.
//
// Two teams meet here: the waiting threads, which agree with each other through groups of their own, and the team kept
// by the operation, of which each thread takes the seat of its number.
#include <sched.h>

#include "omp_file/omp_file.h"
#include "omp_file/outcome.hpp"
#include "omp_file/requests.hpp"
#include "omp_file/team.hpp"

namespace thalweg::omp_file {

namespace {

struct Waiting {
  omp_file_request* request;
  omp_file_request number;  // read before the team meets, as the variable may be shared
  bool may_go;              // test: does not wait
};

Complaint check(Meeting& meeting, const Waiting& mine, const int* done) {
  const Team::Shared& shared = meeting.shared();
  if (mine.request == nullptr) return invalid("request is NULL", EFAULT);
  if (mine.may_go && done == nullptr) return invalid("done is NULL", EFAULT);
  if (!shared.has_request) return {};  // its thread reports the error
  if (mine.number != shared.request) return invalid("the threads name different requests");
  return {};
}

// Thread 0 finds the operation for all.
Complaint claim(Meeting& meeting, const Waiting& mine) {
  Team::Shared& shared = meeting.shared();
  if (mine.number == OMP_FILE_REQUEST_NULL) return {};
  meeting.await_all();
  shared.operation = claim_request(mine.number);
  shared.claimed = mine.number;
  if (shared.operation == nullptr) return invalid("the request is none, or is over");
  shared.direction = shared.operation->shared.direction;
  if (shared.operation->size != meeting.size()) return invalid("the request belongs to a team of another size");
  return {};
}

// Whether the operation has ended on all threads. Collective.
bool test_parts(Meeting& meeting, Seat& seat) {
  if (seat.request != nullptr) {
    int mine = 0;
    const tw_status status = tw_request_test(&seat.request, &mine, &seat.moved);
    if (seat.request == nullptr) seat.keep(status);
  }
  std::int64_t all = seat.request == nullptr ? 1 : 0;
  return tw_group_allreduce(meeting.group(), &all, 1, TW_MIN) == TW_OK && all == 1;
}

// Waits for or tests this thread's part. Sets `over` when the operation has ended.
Outcome conclude(Meeting& meeting, const Waiting& mine, bool& over) {
  Team::Shared& shared = meeting.shared();
  Team& operation = *shared.operation;
  // Only another team can arrive here so early; the threads of the starting call are about to leave.
  while (operation.begun.load(std::memory_order_acquire) == 0) sched_yield();
  Seat& seat = operation.seats[static_cast<std::size_t>(meeting.rank())];
  if (mine.may_go) {
    over = test_parts(meeting, seat);
    if (!over) return {};
  } else if (seat.request != nullptr) {
    seat.keep(tw_request_wait(&seat.request, &seat.moved));
  }
  over = true;
  if (meeting.rank() == 0) shared.complete = true;
  const char* text = seat.status == TW_OK ? nullptr : seat.message.data();
  Outcome outcome = agree(meeting, {seat.status, seat.os_errno, text});
  OpenFile* file = operation.shared.file;  // nullptr: the file has been closed, and the operation is complete
  if (outcome.ok() && file != nullptr && ends_with_sync(*file, operation.shared.direction)) {
    if (meeting.rank() == 0) file->busy.lock();
    outcome = sync_file(meeting, *file);
    if (meeting.rank() == 0) file->busy.unlock();
  }
  set_last_count(outcome.ok() ? static_cast<std::int64_t>(seat.moved) : 0);
  return outcome;
}

Outcome wait_or_test(Meeting& meeting, const Waiting& mine, int* done) {
  Complaint wrong = check(meeting, mine, done);
  if (wrong.none() && meeting.rank() == 0) wrong = claim(meeting, mine);
  Outcome outcome = agree(meeting, wrong);
  if (!outcome.ok()) return outcome;
  bool over = true;
  if (meeting.shared().request != OMP_FILE_REQUEST_NULL) {
    outcome = conclude(meeting, mine, over);
    if (over) __atomic_store_n(mine.request, OMP_FILE_REQUEST_NULL, __ATOMIC_RELAXED);
  } else {
    set_last_count(0);
  }
  if (done != nullptr) __atomic_store_n(done, over ? 1 : 0, __ATOMIC_RELAXED);
  return outcome;
}

tw_status clear_up(Team& team) {
  const Team::Shared& shared = team.shared;
  if (shared.operation == nullptr) return TW_OK;
  if (!shared.complete) {
    give_up_claim(shared.claimed);
    return TW_OK;
  }
  forget_request(shared.claimed);
  const tw_status status = let_go_of_file(*shared.operation);
  Meeting::give_team(shared.operation);
  return status;
}

// Completes an operation before its file closes; its result stays for the team that waits for it.
void settle(Team& operation) {
  bool good = true;
  for (std::int64_t rank = 0; rank < operation.size; ++rank) {
    Seat& seat = operation.seats[static_cast<std::size_t>(rank)];
    if (seat.request != nullptr) seat.keep(tw_request_wait(&seat.request, &seat.moved));
    good = good && seat.status == TW_OK;
  }
  if (good && ends_with_sync(*operation.shared.file, operation.shared.direction)) {
    const tw_status status = tw_file_sync(operation.shared.file->handle);
    for (std::int64_t rank = 0; status != TW_OK && rank < operation.size; ++rank) {
      operation.seats[static_cast<std::size_t>(rank)].keep(status);
    }
  }
}

constexpr Call kWait{"omp_file_wait_all", false, clear_up};
constexpr Call kTest{"omp_file_test_all", false, clear_up};

int finish(omp_file_request* request, int* done, bool may_go) {
  const Waiting mine = {.request = request,
                        .number = request != nullptr ? __atomic_load_n(request, __ATOMIC_RELAXED) : 0,
                        .may_go = may_go};
  Meeting meeting(may_go ? kTest : kWait, [&](Team& team) {
    team.shared.request = mine.number;
    team.shared.has_request = request != nullptr;
  });
  if (meeting.is_refused()) return refuse(meeting);
  const Outcome outcome = wait_or_test(meeting, mine, done);
  return to_return(outcome, meeting.leave());
}

}  // namespace

void settle_requests_on(OpenFile* file) {
  while (Team* operation = claim_request_on(file)) {
    settle(*operation);
    if (OpenFile* its_file = give_up_claim_and_file(operation->shared.request)) release(its_file);  // not the last one
  }
}

}  // namespace thalweg::omp_file

extern "C" int omp_file_wait_all(omp_file_request* request) {
  return thalweg::omp_file::finish(request, nullptr, false);
}

extern "C" int omp_file_test_all(omp_file_request* request, int* done) {
  return thalweg::omp_file::finish(request, done, true);
}
