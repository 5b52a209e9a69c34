#include "capi/watch.hpp"

#include <algorithm>
#include <cstring>

namespace thalweg {

Watch make_watch(tw_finding_fn fn, tw_progress_fn progress, void* user) {
  Watch watch;
  if (fn != nullptr) watch.finding = [fn, user](const std::string& text) { fn(text.c_str(), user); };
  if (progress != nullptr)
    watch.progress = [progress, user](std::uint64_t done, std::uint64_t total) {
      return progress(static_cast<int64_t>(done), static_cast<int64_t>(total), user) == 0;
    };
  return watch;
}

void tell_health(const CheckResult& from, tw_health* to) {
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

}  // namespace thalweg
