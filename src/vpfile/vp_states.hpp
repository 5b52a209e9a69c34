// VpStates: what a task keeps of each of its VPs, in pages that are made when one of them is asked for: a file may
// claim any number of VPs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "vpfile/streams/independent_segment.hpp"

namespace thalweg {

class VpStates {
 public:
  bool empty() const { return count_ == 0; }
  // `count` states that are like `all`.
  void assign(std::uint64_t count, const VpState& all) {
    *this = VpStates();
    count_ = count;
    untouched_ = all;
  }

  VpState& operator[](std::uint64_t local) {
    if (local / kPerPage != number_) turn_to(local / kPerPage);
    return page_[local % kPerPage];
  }
  // Makes the pages of the states that `takes_part` is true of: operator[] takes no memory for these afterwards.
  template <class TakesPart>
  void make(TakesPart takes_part) {
    for (std::uint64_t local = 0; local < count_;) {
      const bool here = takes_part(local);
      if (here) (void)operator[](local);
      local = here ? (local / kPerPage + 1) * kPerPage : local + 1;
    }
  }
  // The same as operator[], but makes no page.
  const VpState& look(std::uint64_t local) const {
    const auto page = pages_.find(local / kPerPage);
    return page == pages_.end() ? untouched_ : page->second[local % kPerPage];
  }

  // Every state that was asked for, or lies beside one in a page; by number. Ends with the first failure.
  template <class Visit>
  Status each(Visit visit) {
    for (auto& [number, page] : pages_)
      for (std::uint64_t i = 0; i < page.size(); ++i) TW_RETURN_IF_ERROR(visit(number * kPerPage + i, page[i]));
    return {};
  }
  // Whether `holds` is true of every state.
  template <class Holds>
  bool all(Holds holds) const {
    for (const auto& [number, page] : pages_)
      if (!std::all_of(page.begin(), page.end(), holds)) return false;
    return all_touched() || holds(untouched_);
  }
  // And that which all others are like.
  VpState& untouched() { return untouched_; }
  bool all_touched() const { return pages_.size() * kPerPage >= count_; }

 private:
  static constexpr std::uint64_t kPerPage = 1024;
  void turn_to(std::uint64_t number) {
    auto page = pages_.find(number);
    if (page == pages_.end())
      page = pages_.emplace(number, std::vector(std::min(kPerPage, count_ - number * kPerPage), untouched_)).first;
    page_ = page->second.data();
    number_ = number;
  }

  std::uint64_t count_ = 0;
  VpState untouched_;
  std::map<std::uint64_t, std::vector<VpState>> pages_;
  std::uint64_t number_ = ~std::uint64_t{0};  // of the page asked for last
  VpState* page_ = nullptr;
};

}  // namespace thalweg
