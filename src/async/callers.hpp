// Which threads may advance collectives of groups that not every thread may (Group::any_thread): those that make calls
// of the transport anyway. A thread is known to be one when it has waited in such a collective. And what is done before
// the transport ends.
#pragma once

#include "base/visibility.hpp"

namespace thalweg {

// By the group, on the thread that advances its collective; and by who knows the calling thread to be one.
TW_SHARED void is_a_caller();
bool this_is_a_caller();

// By the transport, on the thread that ends it: completes the operations that need it, then calls `now`, after which
// none of ours calls it. `look` does it; without one there never was an operation. Set once.
using TransportEnd = void (*)();
TW_SHARED void transport_ends(TransportEnd now);
void set_transport_end(void (*look)(TransportEnd now));
// Called with true before that, to begin operations that are to be completed, and with false after it.
TW_SHARED void set_around_transport_end(void (*around)(bool before));

}  // namespace thalweg
