// VpPageCache: pages of a file in memory, found by their numbers; a page that was not asked for lately makes room for
// another one. The cache begins small, so that one pass through a file stays in the core's cache, and grows when a page
// that had to make room is asked for again.
//
// find() guesses the place of a page that was asked for lately, which is quicker than a hash.
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

  // Null: the page is not in memory. A page stays where it is until it makes room.
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

  // A place for page `number`, to be filled and then put(). `store(page)` stores the page that makes room, which is
  // not `pinned`.
  template <class Store>
  Result<Page*> make_room(std::uint64_t number, const Page* pinned, Store store) {
    if (dropped_.erase(number) != 0) now_ = std::min(most_, 2 * now_);
    if (pages_.size() < now_) return &pages_.emplace_back();
    for (;; ++hand_) {
      Page& page = pages_[hand_ % pages_.size()];
      if (&page == pinned || std::exchange(page.used, false)) continue;
      TW_RETURN_IF_ERROR(store(page));
      ++hand_;
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
  // Its place is free for another page.
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
  std::size_t most_;  // pages there may be
  std::size_t now_;   // pages there may be now
  std::size_t hand_ = 0;
  std::array<Page*, kRecent> recent_{};
  std::unordered_map<std::uint64_t, Page*> place_of_;
  std::unordered_set<std::uint64_t> dropped_;  // numbers of some that had to make room
};

}  // namespace thalweg
