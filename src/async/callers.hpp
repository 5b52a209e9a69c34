// Threads that may advance collectives of groups that not every thread may (Group::any_thread): those that call the
// transport between processes anyway. A thread counts as one once it has waited in such a collective. Also: completes
// operations before the transport ends.
#pragma once

#include "base/visibility.hpp"

namespace thalweg {

// Marks the calling thread as one. Called by the group on the thread that advances its collective, and by code that
// runs on such a thread.
TW_SHARED void is_a_caller();
bool this_is_a_caller();

// Called by the transport on the thread that ends it: completes the operations that need it, then calls `now`, after
// which the library no longer uses the transport. `look` does the work, and that of transport_ends_soon() where its argument
// is null; no `look`: there never was an operation. Set once.
using TransportEnd = void (*)();
TW_SHARED void transport_ends(TransportEnd now);
// Called before that: until then the library's threads advance no operation, only calls of the program do.
TW_SHARED void transport_ends_soon();
void set_transport_end(void (*look)(TransportEnd now));
// `around(true)` runs before that, to begin operations that are to be completed, and `around(false)` after it.
TW_SHARED void set_around_transport_end(void (*around)(bool before));

}  // namespace thalweg
