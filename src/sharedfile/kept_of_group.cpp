#include "sharedfile/kept_of_group.hpp"

#include <atomic>
#include <utility>

namespace thalweg {

namespace {

constexpr char kKey = 0;  // its address says that the group keeps a KeptOfGroup
constexpr int kMostSpare = 32;
std::atomic<int> n_spare{0};  // of leaders of this process

}  // namespace

std::shared_ptr<KeptOfGroup> KeptOfGroup::of(Group& group) {
  auto kept = std::static_pointer_cast<KeptOfGroup>(group.kept(&kKey));
  if (kept == nullptr) {
    kept = std::make_shared<KeptOfGroup>(group.rank() == group.place().process_leader);
    group.keep(&kKey, kept);
  }
  return kept;
}

FileGroups KeptOfGroup::take_spare(KeptFor what) {
  const std::lock_guard lock(mutex_);
  FileGroups& spare = spare_[static_cast<std::size_t>(what)];
  if (leads_ && spare.number >= 0) n_spare.fetch_sub(1, std::memory_order_relaxed);
  return std::exchange(spare, {});
}

void KeptOfGroup::leave(KeptFor what, FileGroups groups) noexcept {
  const std::lock_guard lock(mutex_);
  FileGroups& spare = spare_[static_cast<std::size_t>(what)];
  if (groups.number <= spare.number) return;
  const bool counts = leads_ && spare.number < 0;
  if (counts && n_spare.fetch_add(1, std::memory_order_relaxed) >= kMostSpare) {
    n_spare.fetch_sub(1, std::memory_order_relaxed);
    return;
  }
  std::swap(spare, groups);
}

}  // namespace thalweg
