#include "vpfile/streams/batch_list.hpp"

#include <algorithm>

namespace thalweg {

// Sorts the batches that were added since the last call, and merges them with the others.
void BatchList::sort() {
  const auto is_before = [this](std::uint32_t a, std::uint32_t b) { return all_[a].vp < all_[b].vp; };
  const auto sorted = static_cast<std::ptrdiff_t>(by_vp_.size());
  for (std::size_t place = by_vp_.size(); place < all_.size(); ++place) {
    by_vp_.push_back(static_cast<std::uint32_t>(place));
    most_vps_ = std::max(most_vps_, all_[place].n);
  }
  std::stable_sort(by_vp_.begin() + sorted, by_vp_.end(), is_before);
  std::inplace_merge(by_vp_.begin(), by_vp_.begin() + sorted, by_vp_.end(), is_before);
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

std::uint64_t BatchList::next(std::uint64_t vp) { return of(vp).empty() ? window_end_ : vp; }

}  // namespace thalweg
