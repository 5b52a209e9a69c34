// Whether a caller wants work that takes long to go on.
#pragma once

#include <cstdint>
#include <functional>

namespace thalweg {

// Asked now and then; false: the work ends with Code::stopped. Empty: it goes on.
using GoOn = std::function<bool()>;
inline constexpr std::uint64_t kAskEach = 1024;  // entries, pieces or rows: a caller must be heard within 200 ms

}  // namespace thalweg
