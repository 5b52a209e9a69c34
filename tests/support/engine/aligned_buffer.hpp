// Memory that direct I/O takes: it starts on a page, its length is a multiple of the alignment.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>

#include "base/status.hpp"

namespace thalweg {

class AlignedBuffer {
 public:
  static constexpr std::size_t kPage = 4096;

  AlignedBuffer() = default;
  // At least so many bytes, not set to anything. `alignment` is a power of two; less than a page counts as a page.
  static Result<AlignedBuffer> make(std::size_t bytes, std::size_t alignment = kPage);

  std::byte* data() const { return memory_.get(); }
  std::size_t size() const { return bytes_; }
  std::span<std::byte> span() const { return {data(), size()}; }

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  AlignedBuffer(std::byte* memory, std::size_t bytes) : memory_(memory), bytes_(bytes) {}

  std::unique_ptr<std::byte, Free> memory_;
  std::size_t bytes_ = 0;
};

inline Result<AlignedBuffer> AlignedBuffer::make(std::size_t bytes, std::size_t alignment) {
  alignment = std::max(alignment, kPage);
  if (bytes == 0) return AlignedBuffer();
  const bool fits = bytes <= std::size_t{PTRDIFF_MAX} - alignment;
  const std::size_t whole = fits ? (bytes + alignment - 1) / alignment * alignment : 0;
  auto* const memory = fits ? static_cast<std::byte*>(std::aligned_alloc(alignment, whole)) : nullptr;
  if (memory == nullptr)
    return Status::error(Code::no_memory, "cannot get " + std::to_string(bytes) + " bytes of memory");
  return AlignedBuffer(memory, whole);
}

inline void AlignedBuffer::Free::operator()(std::byte* memory) const { std::free(memory); }

}  // namespace thalweg
