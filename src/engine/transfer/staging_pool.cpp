// The pool keeps a few buffers of each size that is in use: staging sizes are few (one per open file's hints), and the
// pages of a buffer that was used are in place and in cache.
#include "engine/transfer/staging_pool.hpp"

#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace thalweg {

namespace {

constexpr std::size_t kPage = 4096;
constexpr std::align_val_t kPageAlignment{kPage};
constexpr std::size_t kMostIdle = 64;                          // buffers
constexpr std::size_t kMostIdleBytes = std::size_t{64} << 20;  // of all of them

struct Idle {
  std::byte* memory;
  std::size_t bytes;
};

class Pool {
 public:
  Pool() { idle_.reserve(kMostIdle); }
  ~Pool() {
    for (const Idle& buffer : idle_) let_go(buffer.memory);
  }
  std::byte* take(std::size_t bytes) {
    {
      const std::lock_guard lock(mutex_);
      for (std::size_t i = idle_.size(); i > 0; --i) {
        if (idle_[i - 1].bytes != bytes) continue;
        std::byte* memory = idle_[i - 1].memory;
        idle_[i - 1] = idle_.back();
        idle_.pop_back();
        idle_bytes_ -= bytes;
        return memory;
      }
    }
    return static_cast<std::byte*>(::operator new(bytes, kPageAlignment, std::nothrow));
  }
  void give_back(std::byte* memory, std::size_t bytes) {
    {
      const std::lock_guard lock(mutex_);
      if (idle_.size() < kMostIdle && idle_bytes_ + bytes <= kMostIdleBytes) {
        idle_.push_back({memory, bytes});
        idle_bytes_ += bytes;
        return;
      }
    }
    let_go(memory);
  }

 private:
  static void let_go(std::byte* memory) { ::operator delete(memory, kPageAlignment); }

  std::mutex mutex_;
  std::vector<Idle> idle_;      // guarded by mutex_; never grows beyond what was reserved
  std::size_t idle_bytes_ = 0;  // guarded by mutex_
};

Pool& pool() {
  static auto* the_pool = new Pool;  // lives as long as the last thread that may give back
  return *the_pool;
}

}  // namespace

StagingBuffer::StagingBuffer(StagingBuffer&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

StagingBuffer& StagingBuffer::operator=(StagingBuffer&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

StagingBuffer::~StagingBuffer() {
  if (memory_ != nullptr) pool().give_back(memory_, bytes_);
}

Result<StagingBuffer> take_staging(std::size_t bytes) {
  const std::size_t whole = (bytes + kPage - 1) / kPage * kPage;
  std::byte* memory = pool().take(whole);
  if (memory != nullptr) return StagingBuffer(memory, whole);
  return Status::error(Code::no_memory, "no memory for a staging buffer of " + std::to_string(whole) + " bytes");
}

}  // namespace thalweg
