#include "omp_file/outcome.hpp"

#include <array>
#include <cstdio>

#include "omp_file/omp_file.h"

namespace thalweg::omp_file {

namespace {

[[gnu::tls_model("initial-exec")]] thread_local long last_count = 0;

int errno_of(tw_status status, tw_direction direction) {
  switch (status) {
    case TW_ERR_INVALID:
    case TW_ERR_UNKNOWN_HINT:
      return EINVAL;
    case TW_ERR_RANGE:
      return direction == TW_ACCESS_WRITE ? EFBIG : EOVERFLOW;
    case TW_ERR_MODE:
      return EBADF;
    case TW_ERR_NOT_FOUND:
      return ENOENT;
    case TW_ERR_EXISTS:
      return EEXIST;
    case TW_ERR_PERMISSION:
      return EACCES;
    case TW_ERR_UNSAFE:
      return EPERM;
    case TW_ERR_NO_SPACE:
      return ENOSPC;
    case TW_ERR_NO_MEMORY:
      return ENOMEM;
    default:
      return EIO;
  }
}

// Where the threads cannot meet. The library keeps the message on this thread.
int refuse_alone(const Meeting& meeting) {
  Complaint why = {TW_ERR_NO_MEMORY, ENOMEM, "no memory for the state of the threads of a region"};
  std::array<char, 256> text{};
  if (!Meeting::can_meet()) {
    why = invalid("the OpenMP runtime of the program has none of the functions by which threads meet", ENOTSUP);
  } else if (Meeting::is_task()) {
    std::snprintf(text.data(), text.size(),
                  "%s in an explicit task: call it from all threads of the region, outside of tasks",
                  meeting.call().name);
    why = invalid(text.data());
  }
  tw_group* alone = nullptr;
  if (tw_group_self(&alone) == TW_OK) (void)tw_group_agree(alone, why.status, why.os_errno, why.message);
  tw_group_free(&alone);
  return to_return({why.os_errno});
}

}  // namespace

Outcome outcome_of(tw_status status, tw_direction direction) {
  if (status == TW_OK) return {};
  const int os_errno = tw_last_errno();
  return {os_errno != 0 ? os_errno : errno_of(status, direction)};
}

Outcome agree(Meeting& meeting, const Complaint& mine) {
  return outcome_of(tw_group_agree(meeting.group(), mine.status, mine.os_errno, mine.message),
                    meeting.shared().direction);
}

int refuse(Meeting& meeting) {
  if (meeting.absent()) return refuse_alone(meeting);
  const Team::Shared& shared = meeting.shared();
  Seat& seat = meeting.seat();
  std::snprintf(seat.message.data(), seat.message.size(),
                "different calls at once: thread %lld is in %s, thread %lld in %s; all threads of a region make the "
                "same calls in the same order",
                static_cast<long long>(meeting.rank()), meeting.call().name, static_cast<long long>(shared.first),
                shared.call->name);
  const Complaint astray = invalid(seat.message.data());
  if (!shared.call->begins_as_access || shared.file == nullptr)
    return to_return(agree(meeting, astray), meeting.leave());
  tw_access access{};
  access.struct_size = sizeof access;
  access.direction = shared.direction;
  access.status = astray.status;
  access.os_errno = astray.os_errno;
  access.message = astray.message;
  const tw_status status = tw_file_access_all(shared.file->handle, meeting.group(), &access, nullptr);
  return to_return(outcome_of(status, shared.direction), meeting.leave());
}

Outcome tell(Meeting& meeting, tw_status status) {
  if (meeting.rank() != 0 || status == TW_OK) return agree(meeting, {});
  return agree(meeting, {status, tw_last_errno(), tw_last_error()});
}

Complaint check_descriptor(Meeting& meeting, int fd) {
  const Team::Shared& shared = meeting.shared();
  if (shared.file != nullptr && fd == shared.fd) return {};
  OpenFile* mine = shared.file == nullptr ? nullptr : acquire(fd);
  if (mine == nullptr) return invalid("the descriptor is not one of omp_file_open_all(), or it is closed", EBADF);
  release(mine);
  return invalid("the threads name different files");
}

Outcome sync_file(Meeting& meeting, OpenFile& file) {
  return tell(meeting, meeting.rank() == 0 ? tw_file_sync(file.handle) : TW_OK);
}

void set_last_count(std::int64_t nbytes) { last_count = static_cast<long>(nbytes); }

}  // namespace thalweg::omp_file

extern "C" long omp_file_last_count(void) { return thalweg::omp_file::last_count; }
