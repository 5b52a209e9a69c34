// multifile.h, part four: verify, repair, defragment.
#include "capi/guard.hpp"
#include "capi/open_options.hpp"
#include "capi/watch.hpp"
#include "multifile/check/check_multifile.hpp"
#include "thalweg/multifile.h"

using namespace thalweg;

namespace {

using Check = Status (*)(std::shared_ptr<Backend>, const std::string&, const Watch&, CheckResult&);

tw_status check(Check what, const char* call, const char* path, const Watch& watch, tw_health* health) {
  return guarded([&]() -> Status {
    if (path == nullptr) return null_argument(call, "path");
    CheckResult found;
    const Status status = what(posix_backend(), path, watch, found);
    tell_health(found, health);
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

extern "C" tw_status tw_multifile_defrag(const char* from, const char* to, const tw_options* options,
                                         tw_progress_fn progress, void* user) {
  return guarded([&]() -> Status {
    if (from == nullptr || to == nullptr) return null_argument("tw_multifile_defrag", from == nullptr ? "from" : "to");
    TW_ASSIGN_OR_RETURN(const MultifileOptions hints, multifile_hints(options));
    return defrag_multifile(posix_backend(), from, to, hints, make_watch(nullptr, progress, user));
  });
}
