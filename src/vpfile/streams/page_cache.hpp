// VpPageCache: pages of a file in memory, found by number; a page that was not used lately is evicted for a new one.
// The cache begins small, so that one pass through a file stays in the core's cache, and doubles when an evicted page
// is needed again.
//
// find() looks first at the page used last among those with its number modulo 128, which is faster than a hash.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/status.hpp"

namespace thalweg {

inline constexpr std::uint64_t kNoPage = std::numeric_limits<std::uint64_t>::max();

template <class Page>  // has a `number`, kNoPage at first, and `used`, false at first
class VpPageCache {
 public:
  VpPageCache(std::size_t least, std::size_t most) : most_(std::max(least, most)), now_(least) {}

  // Null: the page is not in memory. A page keeps its address until it is evicted.
  Page* find(std::uint64_t number) {
    Page* page = recent_[number % kRecent];
    if (page == nullptr || page->number != number) [[unlikely]] {
      const auto known = place_of_.find(number);
      if (known == place_of_.end()) return nullptr;
      page = recent_[number % kRecent] = known->second;
    }
    page->used = true;
    return page;
  }

  // Returns a place for page `number`, to be filled and passed to put(). `store(page)` stores the page that is evicted,
  // which is never `pinned`.
  template <class Store>
  Result<Page*> make_room(std::uint64_t number, const Page* pinned, Store store) {
    if (dropped_.erase(number) != 0) now_ = std::min(most_, 2 * now_);
    if (pages_.size() < now_) return &pages_.emplace_back();
    for (;;) {
      Page& page = pages_[hand_];
      const bool stays = &page == pinned || std::exchange(page.used, false);
      if (!stays) TW_RETURN_IF_ERROR(store(page));
      hand_ = (hand_ + 1) % pages_.size();
      if (stays) continue;
      drop(page);
      return &page;
    }
  }
  void put(Page& page, std::uint64_t number) {
    place_of_.emplace(number, &page);
    page.number = number;
    page.used = true;
    recent_[number % kRecent] = &page;
  }
  // Frees the place of a page for another one.
  void drop(Page& page) {
    if (page.number == kNoPage) return;
    if (dropped_.size() >= kMostDropped) dropped_.clear();
    dropped_.insert(page.number);
    place_of_.erase(page.number);
    page.number = kNoPage;
  }
  void grow_to_most() { now_ = most_; }
  std::deque<Page>& pages() { return pages_; }

 private:
  static constexpr std::size_t kRecent = 128;
  static constexpr std::size_t kMostDropped = 4096;

  std::deque<Page> pages_;
  std::size_t most_;  // upper bound of the number of pages
  std::size_t now_;   // present bound
  std::size_t hand_ = 0;
  std::array<Page*, kRecent> recent_{};
  std::unordered_map<std::uint64_t, Page*> place_of_;
  std::unordered_set<std::uint64_t> dropped_;  // numbers of pages that were evicted
};

}  // namespace thalweg
