#include "omp_file/outcome.hpp"

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
    case TW_ERR_NO_SPACE:
      return ENOSPC;
    case TW_ERR_NO_MEMORY:
      return ENOMEM;
    default:
      return EIO;
  }
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
