// Which threads may advance collectives of groups that not every thread may (Group::any_thread): those that make calls
// of the transport anyway. A thread is known to be one when it has waited in such a collective.
#pragma once

#include "base/visibility.hpp"

namespace thalweg {

// By the group, on the thread that advances its collective; and by who knows the calling thread to be one.
TW_SHARED void is_a_caller();
bool this_is_a_caller();

}  // namespace thalweg
