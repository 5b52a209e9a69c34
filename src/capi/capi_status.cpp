// status.h and version.h: names of codes, the last failure of a thread, the version.
#include <exception>
#include <new>
#include <string>
#include <utility>

#include "capi/guard.hpp"
#include "thalweg/status.h"
#include "thalweg/version.h"

namespace thalweg {
namespace {

// Streams of stdio are flushed when the objects of the ending thread are destroyed already.
thread_local bool is_destroyed = false;

struct LastError {
  std::string message;
  int os_errno = 0;
  ~LastError() { is_destroyed = true; }
};
thread_local LastError last_error;

constexpr std::pair<tw_status, const char*> kNames[] = {{TW_OK, "TW_OK"},
                                                        {TW_ERR_INVALID, "TW_ERR_INVALID"},
                                                        {TW_ERR_UNKNOWN_HINT, "TW_ERR_UNKNOWN_HINT"},
                                                        {TW_ERR_RANGE, "TW_ERR_RANGE"},
                                                        {TW_ERR_MODE, "TW_ERR_MODE"},
                                                        {TW_ERR_NOT_FOUND, "TW_ERR_NOT_FOUND"},
                                                        {TW_ERR_EXISTS, "TW_ERR_EXISTS"},
                                                        {TW_ERR_PERMISSION, "TW_ERR_PERMISSION"},
                                                        {TW_ERR_UNSAFE, "TW_ERR_UNSAFE"},
                                                        {TW_ERR_IO, "TW_ERR_IO"},
                                                        {TW_ERR_NO_SPACE, "TW_ERR_NO_SPACE"},
                                                        {TW_ERR_NO_MEMORY, "TW_ERR_NO_MEMORY"},
                                                        {TW_ERR_CORRUPT, "TW_ERR_CORRUPT"},
                                                        {TW_ERR_VERSION, "TW_ERR_VERSION"},
                                                        {TW_ERR_NOT_CLOSED, "TW_ERR_NOT_CLOSED"},
                                                        {TW_ERR_STOPPED, "TW_ERR_STOPPED"},
                                                        {TW_ERR_NOT_BUILT, "TW_ERR_NOT_BUILT"},
                                                        {TW_ERR_INTERNAL, "TW_ERR_INTERNAL"}};

// Null where there is no such status.
const char* status_name(tw_status status) {
  for (const auto& [code, name] : kNames)
    if (code == status) return name;
  return nullptr;
}

}  // namespace

std::int32_t set_last_error(const Status& status) noexcept {
  if (status.ok()) return TW_OK;
  if (is_destroyed) return static_cast<std::int32_t>(status.code());
  last_error.os_errno = status.os_errno();
  try {
    last_error.message = status.message();
  } catch (...) {
    last_error.message.clear();
  }
  return static_cast<std::int32_t>(status.code());
}

std::int32_t set_last_exception() noexcept {
  if (call_of_thread.others_wait) end_on_exception();
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return set_last_error(out_of_memory());
  } catch (const std::exception& defect) {
    try {
      return set_last_error(Status::error(Code::internal, std::string("unexpected exception: ") + defect.what()));
    } catch (...) {
      return static_cast<std::int32_t>(Code::internal);
    }
  } catch (...) {
    return static_cast<std::int32_t>(Code::internal);
  }
}

Status given_status(std::int32_t code, int os_errno, const char* message) {
  if (code == TW_OK) return {};
  return Status::failed_call(status_name(code) != nullptr ? static_cast<Code>(code) : Code::internal, os_errno,
                             message != nullptr ? message : "");
}

}  // namespace thalweg

extern "C" const char* tw_last_error(void) { return thalweg::last_error.message.c_str(); }
extern "C" int tw_last_errno(void) { return thalweg::last_error.os_errno; }

#define TW_STRING_(x) #x
#define TW_STRING(x) TW_STRING_(x)
extern "C" const char* tw_version_string(void) {
  return TW_STRING(TW_VERSION_MAJOR) "." TW_STRING(TW_VERSION_MINOR) "." TW_STRING(TW_VERSION_PATCH);
}

extern "C" const char* tw_status_name(tw_status status) {
  const char* name = thalweg::status_name(status);
  return name != nullptr ? name : "unknown status";
}
