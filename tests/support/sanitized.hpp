// What this build looks for while it runs. What takes minutes there and shows nothing that other builds do not is
// tried less often.
#pragma once

namespace thalweg::test {

#if defined(__SANITIZE_THREAD__)
inline constexpr bool kWatchesThreads = true;
#else
inline constexpr bool kWatchesThreads = false;
#endif

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kWatchesMemory = true;
#else
inline constexpr bool kWatchesMemory = false;
#endif

inline constexpr bool kIsSanitized = kWatchesThreads || kWatchesMemory;

}  // namespace thalweg::test
