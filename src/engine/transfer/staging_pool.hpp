// Staging memory: page-aligned buffers, kept for the next use.
#pragma once

#include <cstddef>
#include <utility>

#include "base/status.hpp"

namespace thalweg {

// Gives its memory back to the pool of the process.
class StagingBuffer {
 public:
  StagingBuffer() = default;
  StagingBuffer(std::byte* memory, std::size_t bytes) : memory_(memory), bytes_(bytes) {}
  StagingBuffer(StagingBuffer&& other) noexcept { *this = std::move(other); }
  StagingBuffer& operator=(StagingBuffer&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~StagingBuffer();
  std::byte* data() const { return memory_; }
  std::size_t size() const { return bytes_; }

 private:
  std::byte* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

// `bytes` is rounded up to whole pages. Fails with no_memory.
Result<StagingBuffer> take_staging(std::size_t bytes);

}  // namespace thalweg
