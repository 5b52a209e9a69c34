// storage.h: properties of a file system, and the plan of an access there.
#include <algorithm>
#include <cstring>
#include <string>

#include "capi/guard.hpp"
#include "sharedfile/explain.hpp"
#include "storage/kept_check.hpp"
#include "thalweg/storage.h"

namespace thalweg {

namespace {

Status put_text(const char* function, const std::string& found, char* text, std::size_t size) {
  if (found.size() >= size)
    return Status::error(Code::out_of_range, "{}: size is {}, needed are {} bytes", function, size, found.size() + 1);
  std::memcpy(text, found.c_str(), found.size() + 1);
  return {};
}

Result<RegularAccess> to_access(const tw_access_pattern* given) {
  constexpr const char* kCall = "tw_storage_explain";
  if (given == nullptr) return null_argument(kCall, "access");
  if (given->struct_size < sizeof(tw_access_pattern))
    return invalid_argument(kCall, "struct_size is {}, needed is {}", given->struct_size, sizeof(tw_access_pattern));
  if (given->direction != TW_ACCESS_READ && given->direction != TW_ACCESS_WRITE)
    return invalid_argument(kCall, "direction is {}; TW_ACCESS_READ or TW_ACCESS_WRITE", given->direction);
  for (const int64_t number :
       {given->tasks, given->processes, given->extents, given->length, given->stride, given->task_distance})
    if (number < 0) return invalid_argument(kCall, "{} is below 0", number);
  RegularAccess access;
  access.direction = given->direction == TW_ACCESS_READ ? Direction::read : Direction::write;
  access.tasks = static_cast<std::uint64_t>(given->tasks);
  access.processes = given->processes == 0 ? 1 : static_cast<std::uint64_t>(given->processes);
  access.extents = static_cast<std::uint64_t>(given->extents);
  access.bytes = static_cast<std::uint64_t>(given->length);
  access.stride = static_cast<std::uint64_t>(given->stride);
  access.task_distance = static_cast<std::uint64_t>(given->task_distance);
  return access;
}

}  // namespace

}  // namespace thalweg

using namespace thalweg;

extern "C" {

tw_status tw_storage_describe(const char* path, tw_storage_info* info) {
  return guarded([&]() -> Status {
    if (info == nullptr) return null_argument("tw_storage_describe", "info");
    if (info->struct_size < sizeof info->struct_size)
      return invalid_argument("tw_storage_describe", "struct_size of info is not set");
    tw_storage_info all{};
    all.struct_size = info->struct_size;
    TW_RETURN_IF_ERROR(put_text("tw_storage_describe", profile_path(), all.profile, sizeof all.profile));
    if (path != nullptr) {
      TW_ASSIGN_OR_RETURN(const StorageInfo storage, posix_backend()->describe(path));
      TW_RETURN_IF_ERROR(put_text("tw_storage_describe", storage.identity, all.identity, sizeof all.identity));
      all.coherent = storage.is_coherent ? 1 : 0;
      all.direct_alignment = posix_backend()->direct_alignment_at(path);
      all.stripe_bytes = static_cast<int64_t>(storage.stripes.bytes);
      all.stripe_count = storage.stripes.count;
    }
    std::memcpy(info, &all, std::min(all.struct_size, sizeof all));
    return {};
  });
}

tw_status tw_storage_explain(const char* path, const char* hints, const tw_access_pattern* access, char* text,
                             size_t size) {
  return guarded([&]() -> Status {
    if (text == nullptr) return null_argument("tw_storage_explain", "text");
    if (size > 0) text[0] = '\0';
    if (path == nullptr) return null_argument("tw_storage_explain", "path");
    TW_ASSIGN_OR_RETURN(const RegularAccess regular, to_access(access));
    TW_ASSIGN_OR_RETURN(const std::string found,
                        explain_access(*posix_backend(), path, hints == nullptr ? "" : hints, regular));
    return put_text("tw_storage_explain", found, text, size);
  });
}

}  // extern "C"
