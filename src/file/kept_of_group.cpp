#include "file/kept_of_group.hpp"

#include <utility>

namespace thalweg {

namespace {

constexpr char kKey = 0;  // its address says that the group keeps a KeptOfGroup

}  // namespace

std::shared_ptr<KeptOfGroup> KeptOfGroup::of(Group& group) {
  auto kept = std::static_pointer_cast<KeptOfGroup>(group.kept(&kKey));
  if (kept == nullptr) {
    kept = std::make_shared<KeptOfGroup>();
    group.keep(&kKey, kept);
  }
  return kept;
}

FileGroups KeptOfGroup::take_spare() {
  const std::lock_guard lock(mutex_);
  return std::exchange(spare_, {});
}

void KeptOfGroup::leave(FileGroups groups) noexcept {
  const std::lock_guard lock(mutex_);
  if (groups.number > spare_.number) std::swap(spare_, groups);
}

}  // namespace thalweg
