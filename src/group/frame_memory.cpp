#include "group/frame_memory.hpp"

#include <array>
#include <bitset>
#include <mutex>
#include <new>

namespace thalweg {

namespace {

class Reserve {
 public:
  void* take(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; bytes <= kBlock && i < kBlocks; ++i) {
      if (taken_[i]) continue;
      taken_[i] = true;
      return blocks_[i].bytes.data();
    }
    throw std::bad_alloc();
  }
  // False when the memory is not of the reserve.
  bool give_back(const void* memory) {
    const auto at = static_cast<std::size_t>(static_cast<const std::byte*>(memory) - begin());
    if (memory < begin() || at >= sizeof blocks_) return false;
    const std::lock_guard lock(mutex_);
    taken_[at / sizeof(Block)] = false;
    return true;
  }

 private:
  static constexpr std::size_t kBlock = 4096;
  static constexpr std::size_t kBlocks = 64;
  struct alignas(std::max_align_t) Block {
    std::array<std::byte, kBlock> bytes;
  };
  const std::byte* begin() const { return blocks_[0].bytes.data(); }

  std::mutex mutex_;
  std::bitset<kBlocks> taken_;           // guarded by mutex_
  std::array<Block, kBlocks> blocks_{};  // zero pages until they are needed
};

Reserve& reserve() {
  static Reserve the_reserve;
  return the_reserve;
}

}  // namespace

void* take_frame_memory(std::size_t bytes) {
  void* memory = ::operator new(bytes, std::nothrow);
  return memory != nullptr ? memory : reserve().take(bytes);
}

void free_frame_memory(void* memory) noexcept {
  if (!reserve().give_back(memory)) ::operator delete(memory);
}

}  // namespace thalweg
