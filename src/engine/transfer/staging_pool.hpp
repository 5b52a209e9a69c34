// Staging memory: page-aligned buffers, kept for the next one who needs them.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/status.hpp"

namespace thalweg {

// Gives its memory back to the pool of the process.
class StagingBuffer {
 public:
  StagingBuffer() = default;
  StagingBuffer(std::byte* memory, std::size_t bytes) : memory_(memory), bytes_(bytes) {}
  StagingBuffer(StagingBuffer&& other) noexcept;
  StagingBuffer& operator=(StagingBuffer&& other) noexcept;
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
