#include "group/callers.hpp"

namespace thalweg {

namespace {

[[gnu::tls_model("initial-exec")]] thread_local bool a_caller = false;

}  // namespace

void is_a_caller() { a_caller = true; }
bool this_is_a_caller() { return a_caller; }

}  // namespace thalweg
