// multifile.h, part four: verify, repair, defragment.
#include <cstring>

#include "capi/guard.hpp"
#include "capi/multifile_handle.hpp"
#include "file/health.hpp"
#include "thalweg/multifile.h"

using namespace thalweg;

namespace {

Watch make_watch(tw_finding_fn fn, tw_progress_fn progress, void* user) {
  Watch watch;
  if (fn != nullptr) watch.finding = [fn, user](const std::string& text) { fn(text.c_str(), user); };
  if (progress != nullptr)
    watch.progress = [progress, user](std::uint64_t done, std::uint64_t total) {
      return progress(static_cast<int64_t>(done), static_cast<int64_t>(total), user) == 0;
    };
  return watch;
}

void tell(const Health& from, tw_health* to) {
  if (to == nullptr) return;
  tw_health all{};
  all.struct_size = to->struct_size;
  all.n_logical = static_cast<int64_t>(from.n_logical);
  all.damaged_logical = static_cast<int64_t>(from.damaged_logical);
  all.logical_bytes = static_cast<int64_t>(from.logical_bytes);
  all.findings = static_cast<int64_t>(from.findings);
  all.closed = from.closed;
  all.repaired = from.repaired;
  std::memcpy(to, &all, std::min(all.struct_size, sizeof all));
}

using Check = Status (*)(std::shared_ptr<Backend>, const std::string&, const Watch&, Health&);

tw_status check(Check what, const char* call, const char* path, const Watch& watch, tw_health* health) {
  return guarded([&]() -> Status {
    if (path == nullptr) return null_argument(call, "path");
    Health found;
    const Status status = what(posix_backend(), path, watch, found);
    tell(found, health);
    return status;
  });
}

}  // namespace

extern "C" tw_status tw_multifile_verify(const char* path, tw_finding_fn fn, tw_progress_fn progress, void* user,
                                         tw_health* health) {
  return check(verify_multifile, "tw_multifile_verify", path, make_watch(fn, progress, user), health);
}

extern "C" tw_status tw_multifile_repair(const char* path, tw_finding_fn fn, tw_progress_fn progress, void* user,
                                         tw_health* health) {
  return check(repair_multifile, "tw_multifile_repair", path, make_watch(fn, progress, user), health);
}

extern "C" tw_status tw_multifile_defrag(const char* from, const char* to, const tw_multifile_config* config,
                                         tw_progress_fn progress, void* user) {
  return guarded([&]() -> Status {
    if (from == nullptr || to == nullptr) return null_argument("tw_multifile_defrag", from == nullptr ? "from" : "to");
    const Options options = config != nullptr ? config->config.options : Options{};
    return defrag_multifile(posix_backend(), from, to, options, make_watch(nullptr, progress, user));
  });
}
