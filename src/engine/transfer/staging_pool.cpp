// The pool keeps a few buffers of each size in use: there are few sizes (one per open file's hints), and the pages of a
// used buffer are mapped and in cache.
#include "engine/transfer/staging_pool.hpp"

#include <array>
#include <mutex>
#include <new>
#include <span>
#include <utility>

namespace thalweg {

namespace {

constexpr std::size_t kPage = 4096;
constexpr std::align_val_t kPageAlignment{kPage};
constexpr std::size_t kMostIdle = 64;                          // buffers
constexpr std::size_t kMostIdleBytes = std::size_t{64} << 20;  // of all of them

std::mutex mutex;  // guards the idle buffers
std::array<std::span<std::byte>, kMostIdle> idle;
std::size_t n_idle = 0;
std::size_t idle_bytes = 0;

// Null: there is no idle buffer of this size.
std::byte* take_idle(std::size_t bytes) {
  const std::lock_guard lock(mutex);
  for (std::size_t i = n_idle; i-- > 0;) {
    if (idle[i].size() != bytes) continue;
    idle_bytes -= bytes;
    std::swap(idle[i], idle[--n_idle]);
    return idle[n_idle].data();
  }
  return nullptr;
}

// False: the pool is full.
bool give_back(std::span<std::byte> buffer) {
  const std::lock_guard lock(mutex);
  if (n_idle == kMostIdle || idle_bytes + buffer.size() > kMostIdleBytes) return false;
  idle[n_idle++] = buffer;
  idle_bytes += buffer.size();
  return true;
}

}  // namespace

StagingBuffer::~StagingBuffer() {
  if (memory_ != nullptr && !give_back({memory_, bytes_})) ::operator delete(memory_, kPageAlignment);
}

Result<StagingBuffer> take_staging(std::size_t bytes) {
  const std::size_t whole = (bytes + kPage - 1) / kPage * kPage;
  std::byte* memory = take_idle(whole);
  if (memory == nullptr) memory = static_cast<std::byte*>(::operator new(whole, kPageAlignment, std::nothrow));
  if (memory != nullptr) return StagingBuffer(memory, whole);
  return Status::error(Code::no_memory, "no memory for a staging buffer of {} bytes", whole);
}

}  // namespace thalweg
