// What this build looks for while it runs, and whether less is tried there. What takes minutes under a sanitizer is
// tried less often, unless THALWEG_ALL_STRIDES is in the environment: the nightly run (preset asan-all) leaves nothing
// out. Set it for the build, too, which finds the tests by starting their programs.
#pragma once

#include <cstdlib>

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

inline bool tries_less() {
  static const bool asked_for_all = std::getenv("THALWEG_ALL_STRIDES") != nullptr;
  return (kWatchesThreads || kWatchesMemory) && !asked_for_all;
}

// Seconds after which a hang is taken for certain, for a test that takes `usual` at most where it tries less.
inline unsigned patience(unsigned usual) {
  return (kWatchesThreads || kWatchesMemory) && !tries_less() ? 20 * usual : usual;
}

}  // namespace thalweg::test
