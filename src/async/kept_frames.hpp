// Frames of coroutines that have ended, kept for the next ones of the same thread: a collective makes a dozen, some of
// them of a kibibyte or two, which malloc serves slowly. Builds with a sanitizer keep none, so that it sees each frame
// go (kept_frames_absent.cpp).
#pragma once

#include <cstddef>

namespace thalweg {

// The size in which frames of `bytes` are kept.
std::size_t kept_size(std::size_t bytes);
// Null: there is none.
void* take_kept_frame(std::size_t kept_size) noexcept;
// False: enough are kept.
bool keep_frame(void* frame, std::size_t kept_size) noexcept;

}  // namespace thalweg
