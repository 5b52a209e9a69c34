// What the ranks do while they write: a loop on registers, which needs a core and nothing else.
#pragma once

#include <cstdint>
#include <functional>

namespace methods {

// So many turns of the loop, in slices; `between` is called after each.
void compute(std::int64_t turns, const std::function<void()>& between);

}  // namespace methods
