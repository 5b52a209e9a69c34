// A growing buffer of bytes that starts on a page, since the kernel copies much faster between equally aligned places; a
// large one on a large page.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>

#include "os/address_space.hpp"

namespace thalweg {

class ByteBuffer {
 public:
  static constexpr std::size_t kAlignment = 4096;

  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  std::size_t room() const { return capacity_ - size_; }
  bool empty() const { return size_ == 0; }
  std::span<const std::byte> bytes() const { return {data_.get(), size_}; }

  // Requires room() >= n.
  void append(const std::byte* from, std::size_t n) {
    if (n == 0) return;  // there may be no memory yet
    std::memcpy(data_.get() + size_, from, n);
    size_ += n;
  }
  void clear() { size_ = 0; }
  // Keeps the content; rounds up to whole pages, large ones from 2 MiB on. Throws bad_alloc.
  void reserve(std::size_t wanted) {
    if (wanted <= capacity_) return;
    const std::size_t alignment = wanted < kLargePage ? kAlignment : kLargePage;
    const std::size_t rounded = (wanted + alignment - 1) / alignment * alignment;
    std::unique_ptr<std::byte, Free> grown(static_cast<std::byte*>(std::aligned_alloc(alignment, rounded)));
    if (!grown) throw std::bad_alloc();
    if (alignment == kLargePage) use_large_pages(grown.get(), rounded);
    if (size_ > 0) std::memcpy(grown.get(), data_.get(), size_);
    data_ = std::move(grown);
    capacity_ = rounded;
  }

 private:
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  std::unique_ptr<std::byte, Free> data_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace thalweg
