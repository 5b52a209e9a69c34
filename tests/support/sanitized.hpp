// Which sanitizer this build uses, and whether long tests are shortened. A test that takes minutes under a sanitizer
// makes fewer repetitions unless THALWEG_ALL_STRIDES is set; the nightly run (preset asan-all) sets it. Set it also for
// the build, which discovers the tests by starting their programs.
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

// Time limit in seconds for a test that takes at most `usual` seconds when shortened.
inline unsigned patience(unsigned usual) {
  return (kWatchesThreads || kWatchesMemory) && !tries_less() ? 20 * usual : usual;
}

}  // namespace thalweg::test
