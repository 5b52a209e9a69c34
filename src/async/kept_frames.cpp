#include "async/kept_frames.hpp"

#include <array>
#include <new>

namespace thalweg {

namespace {

constexpr std::size_t kUnit = 128;
constexpr std::size_t kSizes = 24;  // up to 3 KiB
constexpr std::size_t kOfEach = 8;

struct Frames {
  std::array<void*, kOfEach> frames;
  std::size_t n = 0;
};
using Kept = std::array<Frames, kSizes + 1>;

// Of this thread. A pointer alone is small enough for the kind of thread-local variable that costs no call.
[[gnu::tls_model("initial-exec")]] thread_local Kept* kept = nullptr;
[[gnu::tls_model("initial-exec")]] thread_local bool ended = false;  // no more frames must be kept

struct AtThreadEnd {
  ~AtThreadEnd() {
    ended = true;
    for (Frames& size : *kept)
      while (size.n > 0) ::operator delete(size.frames[--size.n]);
    delete kept;
    kept = nullptr;
  }
};

Kept* begin_keeping() {
  if (ended) return nullptr;
  kept = new (std::nothrow) Kept{};
  if (kept != nullptr) {
    [[maybe_unused]] thread_local const AtThreadEnd at_thread_end;
  }
  return kept;
}

Frames* frames_of(std::size_t kept_size) {
  if (kept_size > kUnit * kSizes) return nullptr;
  Kept* mine = kept;
  if (mine == nullptr) mine = begin_keeping();
  return mine == nullptr ? nullptr : &(*mine)[kept_size / kUnit];
}

}  // namespace

std::size_t kept_size(std::size_t bytes) { return (bytes + kUnit - 1) / kUnit * kUnit; }

void* take_kept_frame(std::size_t kept_size) noexcept {
  Frames* frames = frames_of(kept_size);
  return frames != nullptr && frames->n > 0 ? frames->frames[--frames->n] : nullptr;
}

bool keep_frame(void* frame, std::size_t kept_size) noexcept {
  Frames* frames = frames_of(kept_size);
  if (frames == nullptr || frames->n == kOfEach) return false;
  frames->frames[frames->n++] = frame;
  return true;
}

}  // namespace thalweg
