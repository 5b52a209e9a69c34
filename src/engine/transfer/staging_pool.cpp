// The pool keeps a few buffers of each size in use: there are few sizes (one per open file's hints), and the pages of a
// used buffer are mapped and in cache.
#include "engine/transfer/staging_pool.hpp"

#include <algorithm>
#include <mutex>
#include <new>
#include <span>
#include <string>
#include <vector>

namespace thalweg {

namespace {

constexpr std::size_t kPage = 4096;
constexpr std::align_val_t kPageAlignment{kPage};
constexpr std::size_t kMostIdle = 64;                          // buffers
constexpr std::size_t kMostIdleBytes = std::size_t{64} << 20;  // of all of them

class Pool {
 public:
  Pool() { idle_.reserve(kMostIdle); }
  // Null: there is no buffer of this size.
  std::byte* take(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(idle_.rbegin(), idle_.rend(), [=](const auto& one) { return one.size() == bytes; });
    if (found == idle_.rend()) return nullptr;
    std::byte* const memory = found->data();
    *found = idle_.back();
    idle_.pop_back();
    idle_bytes_ -= bytes;
    return memory;
  }
  // False: the pool is full.
  bool give_back(std::span<std::byte> buffer) {
    const std::lock_guard lock(mutex_);
    if (idle_.size() >= kMostIdle || idle_bytes_ + buffer.size() > kMostIdleBytes) return false;
    idle_.push_back(buffer);
    idle_bytes_ += buffer.size();
    return true;
  }

 private:
  std::mutex mutex_;
  std::vector<std::span<std::byte>> idle_;  // guarded by mutex_; never grows beyond what was reserved
  std::size_t idle_bytes_ = 0;              // guarded by mutex_
};

Pool& pool() {
  static auto* the_pool = new Pool;  // never destroyed: threads may give buffers back at exit
  return *the_pool;
}

}  // namespace

StagingBuffer::~StagingBuffer() {
  if (memory_ != nullptr && !pool().give_back({memory_, bytes_})) ::operator delete(memory_, kPageAlignment);
}

Result<StagingBuffer> take_staging(std::size_t bytes) {
  const std::size_t whole = (bytes + kPage - 1) / kPage * kPage;
  std::byte* memory = pool().take(whole);
  if (memory == nullptr) memory = static_cast<std::byte*>(::operator new(whole, kPageAlignment, std::nothrow));
  if (memory != nullptr) return StagingBuffer(memory, whole);
  return Status::error(Code::no_memory, "no memory for a staging buffer of " + std::to_string(whole) + " bytes");
}

}  // namespace thalweg
