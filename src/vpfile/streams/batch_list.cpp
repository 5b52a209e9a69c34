#include "vpfile/streams/batch_list.hpp"

#include <algorithm>
#include <numeric>

namespace thalweg {

void BatchList::sort() {
  by_vp_.resize(all_.size());
  std::iota(by_vp_.begin(), by_vp_.end(), 0U);
  std::ranges::stable_sort(by_vp_, {}, [this](std::uint32_t place) { return all_[place].vp; });
  for (const format::Batch& batch : all_) most_vps_ = std::max(most_vps_, batch.n);
  is_sorted_ = true;
}

// A batch has at most most_vps_ VPs, so those that have `vp` begin shortly before it. Others that begin there may have
// VPs before `vp`, so the window begins with it.
void BatchList::move_window(std::uint64_t vp) {
  if (!is_sorted_) sort();
  const auto vp_at = [this](std::uint32_t place) { return all_[place].vp; };
  const std::uint64_t first = vp - std::min<std::uint64_t>(vp, most_vps_);
  in_window_.clear();
  window_begin_ = vp;
  window_end_ = kNone;
  auto place = std::ranges::lower_bound(by_vp_, first, {}, vp_at);
  for (; place != by_vp_.end() && all_[*place].vp <= vp; ++place) {
    const format::Batch& batch = all_[*place];
    if (!batch.has(vp)) continue;
    in_window_.push_back(&batch);
    window_end_ = std::min(window_end_, batch.vp + batch.n);
  }
  if (place != by_vp_.end()) window_end_ = std::min(window_end_, all_[*place].vp);
  std::ranges::sort(in_window_);
}

std::uint64_t BatchList::next(std::uint64_t vp) {
  if (!of(vp).empty()) return vp;
  const auto place = std::ranges::lower_bound(by_vp_, vp, {}, [this](std::uint32_t at) { return all_[at].vp; });
  return place == by_vp_.end() ? kNone : all_[*place].vp;
}

}  // namespace thalweg
