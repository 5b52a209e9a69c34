// Gigabytes of addresses mapped repeatedly to a few megabytes of memory, for large transfers that stay fast.
#pragma once

#include <cstddef>
#include <cstdint>

namespace thalweg {

class VirtualMemory {
 public:
  explicit VirtualMemory(std::uint64_t bytes);
  VirtualMemory(const VirtualMemory&) = delete;
  VirtualMemory& operator=(const VirtualMemory&) = delete;
  ~VirtualMemory();
  std::byte* data() const { return data_; }  // null: the mapping failed
  const char* why_not() const { return why_not_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t mapped_ = 0;
  const char* why_not_ = "no memory";
};

}  // namespace thalweg
