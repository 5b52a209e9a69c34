#include "async/frame_memory.hpp"

#include <array>
#include <bitset>
#include <mutex>
#include <new>

#include "async/kept_frames.hpp"

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

// In front of each frame.
struct alignas(std::max_align_t) Head {
  std::size_t bytes;  // with the head
};

}  // namespace

void* take_frame_memory(std::size_t bytes) {
  const std::size_t all = kept_size(bytes + sizeof(Head));
  void* memory = take_kept_frame(all);
  if (memory == nullptr) memory = ::operator new(all, std::nothrow);
  if (memory == nullptr) memory = reserve().take(all);
  return new (memory) Head{all} + 1;
}

void free_frame_memory(void* memory) noexcept {
  Head* head = static_cast<Head*>(memory) - 1;
  if (reserve().give_back(head) || keep_frame(head, head->bytes)) return;
  ::operator delete(head);
}

}  // namespace thalweg
