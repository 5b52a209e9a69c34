// Memory that direct I/O takes: it starts on a page, its length is a multiple of the alignment.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

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

}  // namespace thalweg
