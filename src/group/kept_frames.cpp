#include "group/kept_frames.hpp"

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

thread_local bool ended = false;  // the frames of this thread are gone, and more must not be kept

struct Kept {
  std::array<Frames, kSizes + 1> sizes{};
  ~Kept() {
    ended = true;
    for (Frames& size : sizes)
      while (size.n > 0) ::operator delete(size.frames[--size.n]);
  }
};

Frames* frames_of(std::size_t kept_size) {
  thread_local Kept kept;
  return !ended && kept_size <= kUnit * kSizes ? &kept.sizes[kept_size / kUnit] : nullptr;
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
