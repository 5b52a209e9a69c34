// Ends a task that fails within a collective call without a status: a small allocation failed, or a defect threw. The
// other tasks wait for this one, which cannot inform them; it ends the program with one line (os/end_program.hpp).
// Allocations that grow with the work are checked and agreed on instead (memory.hpp).
#pragma once

#include "base/call.hpp"
#include "base/visibility.hpp"

namespace thalweg {

// The collective call of the library that the thread is in, if any.
struct CallOfThread {
  Call call = Call::none;
  bool others_wait = false;
};
[[gnu::tls_model("initial-exec")]] extern TW_SHARED constinit thread_local CallOfThread call_of_thread;

// Names the exception being handled: std::bad_alloc as memory, anything else as a defect.
[[noreturn]] TW_SHARED void end_on_exception() noexcept;
// `what`: the failure, with its details.
[[noreturn]] TW_SHARED void end_in_call(const char* what) noexcept;

}  // namespace thalweg
