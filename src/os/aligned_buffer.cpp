#include "os/aligned_buffer.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace thalweg {

Result<AlignedBuffer> AlignedBuffer::make(std::size_t bytes, std::size_t alignment) {
  alignment = std::max(alignment, kPage);
  if (bytes == 0) return AlignedBuffer();
  const bool fits = bytes <= std::size_t{PTRDIFF_MAX} - alignment;
  const std::size_t whole = fits ? (bytes + alignment - 1) / alignment * alignment : 0;
  auto* const memory = fits ? static_cast<std::byte*>(std::aligned_alloc(alignment, whole)) : nullptr;
  if (memory == nullptr)
    return Status::error(Code::no_memory, "cannot get " + std::to_string(bytes) + " bytes of memory");
  return AlignedBuffer(memory, whole);
}

void AlignedBuffer::Free::operator()(std::byte* memory) const { std::free(memory); }

}  // namespace thalweg
