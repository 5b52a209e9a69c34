#include "vpfile/streams/batch_list.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace thalweg {

// Sorts the batches that were added since the last call, and merges them with the others. Without memory the next call
// begins anew.
void BatchList::sort() {
  const auto is_before = [this](std::uint32_t a, std::uint32_t b) { return all_[a].vp < all_[b].vp; };
  const std::size_t before = std::exchange(n_sorted_, 0);
  std::array<std::ptrdiff_t, kSizes> sorted{};
  for (std::size_t size = 0; size < kSizes; ++size) {
    if (before == 0) by_vp_[size].clear();
    sorted[size] = std::ssize(by_vp_[size]);
  }
  for (std::size_t place = before; place < all_.size(); ++place)
    if ((all_[place].lost != 0) == lost_)
      by_vp_[std::bit_width(all_[place].n)].push_back(static_cast<std::uint32_t>(place));
  for (std::size_t size = 0; size < kSizes; ++size) {
    std::vector<std::uint32_t>& places = by_vp_[size];
    std::stable_sort(places.begin() + sorted[size], places.end(), is_before);
    std::inplace_merge(places.begin(), places.begin() + sorted[size], places.end(), is_before);
  }
  n_sorted_ = all_.size();
}

// Batches of like size that have `vp` begin shortly before it. Others that begin there may have VPs before `vp`, so the
// window begins with it.
void BatchList::move_window(std::uint64_t vp) {
  if (!is_sorted()) sort();
  const auto vp_at = [this](std::uint32_t place) { return all_[place].vp; };
  in_window_.clear();
  window_begin_ = window_end_ = vp;  // no VP, should memory be short
  std::uint64_t end = kNone;
  for (std::size_t size = 0; size < kSizes; ++size) {
    const std::vector<std::uint32_t>& places = by_vp_[size];
    auto place = std::ranges::lower_bound(places, vp - std::min(vp, std::uint64_t{1} << size), {}, vp_at);
    for (; place != places.end() && all_[*place].vp <= vp; ++place) {
      const format::Batch& batch = all_[*place];
      if (!batch.has(vp)) continue;
      in_window_.push_back(&batch);
      end = std::min(end, batch.vp + batch.n);
    }
    if (place != places.end()) end = std::min(end, all_[*place].vp);
  }
  std::ranges::sort(in_window_);
  window_end_ = end;
}

std::uint64_t BatchList::next(std::uint64_t vp) { return of(vp).empty() ? window_end_ : vp; }

}  // namespace thalweg
