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
const Status& kOutOfMemory = *new Status(Status::error(Code::no_memory, "out of memory", ENOMEM));

}  // namespace

Status out_of_memory() { return kOutOfMemory; }

bool is_code(std::int32_t number) {
  switch (static_cast<Code>(number)) {
    case Code::invalid_argument:
    case Code::unknown_hint:
    case Code::out_of_range:
    case Code::wrong_mode:
    case Code::not_found:
    case Code::already_exists:
    case Code::no_permission:
    case Code::unsafe:
    case Code::io_error:
    case Code::no_space:
    case Code::no_memory:
    case Code::corrupt_file:
    case Code::unsupported_version:
    case Code::not_closed:
    case Code::stopped:
    case Code::not_built:
    case Code::internal:
      return true;
    case Code::ok:
      break;
  }
  return false;
}

Status os_error(int err, const std::string& what) {
  return Status::error(code_of_errno(err), what + ": " + std::generic_category().message(err), err);
}

}  // namespace thalweg
