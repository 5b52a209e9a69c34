// Callbacks and results of verify and repair, as health.h has them.
#pragma once

#include "base/check_result.hpp"
#include "thalweg/health.h"

namespace thalweg {

Watch make_watch(tw_finding_fn fn, tw_progress_fn progress, void* user);
void tell_health(const CheckResult& from, tw_health* to);  // `to` may be null

}  // namespace thalweg
