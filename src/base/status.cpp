#include "base/status.hpp"

#include <cerrno>
#include <system_error>

namespace thalweg {

namespace {

Code code_of_errno(int err) {
  switch (err) {
    case ENOENT:
    case ENOTDIR:
      return Code::not_found;
    case EEXIST:
      return Code::already_exists;
    case EACCES:
    case EPERM:
    case EROFS:
      return Code::no_permission;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return Code::no_space;
    case ENOMEM:
      return Code::no_memory;
    default:
      return Code::io_error;
  }
}

// Allocated while there is memory, and never destroyed: threads may still run while the process ends.
const Status& no_memory_left = *new Status(Status::failed_call(Code::no_memory, ENOMEM, "out of memory"));

}  // namespace

Status out_of_memory() { return no_memory_left; }

Status os_error(int err, const std::string& what) {
  return Status::failed_call(code_of_errno(err), err, what + ": " + std::generic_category().message(err));
}

}  // namespace thalweg
