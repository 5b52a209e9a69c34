#include "support/memory/virtual_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TW_TRACES_ACCESSES 1
#endif
#endif
#ifdef __SANITIZE_THREAD__
#define TW_TRACES_ACCESSES 1
#endif

namespace thalweg {

VirtualMemory::VirtualMemory(std::uint64_t bytes) {
#ifdef TW_TRACES_ACCESSES
  why_not_ = "ThreadSanitizer needs four times as much memory as a transfer has bytes";
  (void)bytes;
#else
  constexpr std::size_t window = std::size_t{16} << 20;
  mapped_ = (bytes + window - 1) / window * window;
  const int shared = ::memfd_create("thalweg_test", MFD_CLOEXEC);
  void* const all = ::mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) mapped_ = 0;
  bool good = mapped_ > 0 && shared >= 0 && ::ftruncate(shared, window) == 0;
  for (std::size_t at = 0; good && at < mapped_; at += window)
    good = ::mmap(static_cast<std::byte*>(all) + at, window, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, shared,
                  0) != MAP_FAILED;
  if (shared >= 0) (void)::close(shared);
  if (good) data_ = static_cast<std::byte*>(all);
  if (!good && mapped_ > 0) (void)::munmap(all, mapped_);
#endif
}

VirtualMemory::~VirtualMemory() {
  if (data_ != nullptr) (void)::munmap(data_, mapped_);
}

}  // namespace thalweg
