#include "omp_file/transfer.hpp"

#include <cstdint>
#include <cstdlib>
#include <new>

#include "omp_file/open_files.hpp"
#include "omp_file/outcome.hpp"
#include "omp_file/requests.hpp"
#include "omp_file/team.hpp"

namespace thalweg::omp_file {

namespace {

constexpr const char* kNullBuffer = "a buffer with bytes to move is NULL";
constexpr const char* kNegativeLength = "a length is negative";
constexpr const char* kNegativeOffset = "an offset is negative";

Complaint describe_block(const Transfer& mine, Seat& seat, tw_access& access) {
  if (mine.length < 0) return invalid(kNegativeLength);
  if (mine.has_offset && mine.offset < 0) return invalid(kNegativeOffset);
  if (mine.buf == nullptr && mine.length > 0) return invalid(kNullBuffer, EFAULT);
  seat.one = {.address = mine.buf, .length = mine.length, .offset = 0};
  access.placement = mine.has_offset ? TW_AT_OFFSET : TW_IN_ORDER;
  access.offset = mine.has_offset ? mine.offset : 0;
  access.extents = &seat.one;
  access.n = 1;
  return {};
}

Complaint describe_list(const Transfer& mine, Seat& seat, tw_access& access) {
  if (mine.length < 0) return invalid("the number of pieces is negative");
  if (mine.length > 0 && (mine.list == nullptr || (mine.has_offset && mine.offsets == nullptr))) {
    return invalid("the list or its offsets are NULL", EFAULT);
  }
  try {
    seat.list.resize(static_cast<std::size_t>(mine.length));
  } catch (const std::bad_alloc&) {
    return {TW_ERR_NO_MEMORY, ENOMEM, "no memory for the list"};
  }
  for (std::size_t i = 0; i < seat.list.size(); ++i) {
    const iovec& piece = mine.list[i];
    if (piece.iov_len > static_cast<std::size_t>(INT64_MAX)) return invalid(kNegativeLength);
    if (piece.iov_base == nullptr && piece.iov_len > 0) return invalid(kNullBuffer, EFAULT);
    const off_t offset = mine.has_offset ? mine.offsets[i] : 0;
    if (offset < 0) return invalid(kNegativeOffset);
    seat.list[i] = {.address = piece.iov_base, .length = static_cast<std::int64_t>(piece.iov_len), .offset = offset};
  }
  access.placement = mine.has_offset ? TW_AT_EXTENTS : TW_IN_ORDER;
  access.extents = seat.list.data();
  access.n = mine.length;
  return {};
}

// Fills the access; an error is passed along, so that the library reports it to all.
Complaint describe(Meeting& meeting, const Transfer& mine, tw_access& access) {
  access.struct_size = sizeof access;
  access.direction = mine.direction;
  access.common = mine.common ? 1 : 0;
  Complaint wrong = check_descriptor(meeting, mine.fd);
  if (wrong.none()) {
    const OpenFile& file = *meeting.shared().file;
    if (!(mine.direction == TW_ACCESS_READ ? file.readable : file.writable)) {
      wrong = {TW_ERR_MODE, EBADF,
               mine.direction == TW_ACCESS_READ ? "not opened for reading" : "not opened for writing"};
    }
  }
  if (wrong.none()) {
    wrong = mine.is_list ? describe_list(mine, meeting.seat(), access) : describe_block(mine, meeting.seat(), access);
  }
  if (!wrong.none()) access.n = 0;
  access.status = wrong.status;
  access.os_errno = wrong.os_errno;
  access.message = wrong.message;
  return wrong;
}

void prepare(Team& team, const Transfer& mine) {
  team.shared.fd = mine.fd;
  team.shared.file = acquire(mine.fd);
  team.shared.direction = mine.direction;
}

Outcome move_bytes(Meeting& meeting, const Transfer& mine) {
  tw_access access{};
  const Complaint wrong = describe(meeting, mine, access);
  OpenFile* file = meeting.shared().file;
  if (file == nullptr) return agree(meeting, wrong);
  if (meeting.rank() == 0) meeting.lock_file();
  std::size_t moved = 0;
  const Outcome outcome =
      outcome_of(tw_file_access_all(file->handle, meeting.group(), &access, &moved), mine.direction);
  if (!outcome.ok()) return outcome;
  set_last_count(static_cast<std::int64_t>(moved));
  return ends_with_sync(*file, mine.direction) ? sync_file(meeting, *file) : outcome;
}

// Without the progress thread, which would take a core from the team, unless the user asks for it: the transfers are
// with the storage queue when the call returns.
tw_progress progress() {
  static const bool chosen = std::getenv("THALWEG_PROGRESS") != nullptr;
  return chosen ? TW_PROGRESS_DEFAULT : TW_PROGRESS_POLL;
}

Outcome begin(Meeting& meeting, const Transfer& mine, omp_file_request* request) {
  tw_access access{};
  Complaint wrong = describe(meeting, mine, access);
  Team::Shared& shared = meeting.shared();
  if (wrong.none() && request == nullptr) wrong = invalid("request is NULL", EFAULT);
  if (wrong.none() && shared.request == OMP_FILE_REQUEST_NULL) wrong = {TW_ERR_NO_MEMORY, ENOMEM, "no memory"};
  if (meeting.rank() == 0 && shared.file != nullptr) meeting.lock_file();
  const Outcome outcome = agree(meeting, wrong);
  if (!outcome.ok()) return outcome;
  access.progress = progress();
  Seat& seat = meeting.seat();
  seat.request = nullptr;
  seat.moved = 0;
  seat.keep(tw_file_iaccess_all(shared.file->handle, seat.group, &access, &seat.request));
  __atomic_store_n(request, shared.request, __ATOMIC_RELAXED);  // may be one variable for all threads
  return outcome;
}

// Removes an operation that did not begin.
tw_status forget(Team& team) {
  forget_request(team.shared.request);
  return let_go_of_file(team);
}

constexpr Call kTransfer{"an omp_file call that reads or writes", true, let_go_of_file};
constexpr Call kBegin{"an omp_file call that begins to read or write", false, forget};

}  // namespace

int transfer(const Transfer& mine) {
  set_last_count(0);
  Meeting meeting(kTransfer, [&](Team& team) { prepare(team, mine); });
  if (meeting.is_refused()) return refuse(meeting);
  const Outcome outcome = move_bytes(meeting, mine);
  return to_return(outcome, meeting.leave());
}

int begin_transfer(const Transfer& mine, omp_file_request* request) {
  Meeting meeting(kBegin, [&](Team& team) {
    prepare(team, mine);
    team.shared.request = add_request(&team);
  });
  if (meeting.is_refused()) return refuse(meeting);
  const Outcome outcome = begin(meeting, mine, request);
  if (!outcome.ok()) return to_return(outcome, meeting.leave());
  meeting.leave_to_operation([](Team& team) {
    if (team.shared.locked) team.shared.file->busy.unlock();
    team.shared.locked = false;
  });
  return 0;
}

}  // namespace thalweg::omp_file
