#include "async/kept_frames.hpp"

namespace thalweg {

std::size_t kept_size(std::size_t bytes) { return bytes; }
void* take_kept_frame(std::size_t /*kept_size*/) noexcept { return nullptr; }
bool keep_frame(void* /*frame*/, std::size_t /*kept_size*/) noexcept { return false; }

}  // namespace thalweg
