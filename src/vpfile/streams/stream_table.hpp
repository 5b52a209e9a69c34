// StreamTable: positions, flags, pushed-back bytes and lengths of the streams of a task's VPs.
//
// As long as all VPs are alike they have one position and one pair of flags. Once they differ, each has a state of its
// own, in pages that are allocated on first use: a file may claim any number of VPs.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "base/status.hpp"

namespace thalweg {

struct StreamState {
  // Flags.
  static constexpr std::uint64_t kLoaded = 1;   // bytes and last are known
  static constexpr std::uint64_t kGrown = 2;    // has more bytes in a block than any row states
  static constexpr std::uint64_t kChanged = 4;  // `bytes` differs from NAME.first
  static constexpr std::uint64_t kEof = 8;
  static constexpr std::uint64_t kError = 16;
  static constexpr std::uint64_t kChained = 32;  // has a chain of blocks: batches count only in its holes
  std::uint64_t position = 0;                    // in the stream
  std::uint64_t bytes = 0;                       // of the stream in the IB segment
  std::uint64_t last = 0;                        // last entry of the chain in NAME.dir
  std::uint64_t cursor_and_flags = 0;

  bool has(std::uint64_t flags) const { return (cursor_and_flags & flags) != 0; }
  void set(std::uint64_t flags) { cursor_and_flags |= flags; }
  void clear(std::uint64_t flags) { cursor_and_flags &= ~flags; }
  std::uint64_t cursor() const { return cursor_and_flags >> 8; }
  void set_cursor(std::uint64_t entry) { cursor_and_flags = entry << 8 | (cursor_and_flags & 0xFF); }
};
static_assert(sizeof(StreamState) == 32);

class StreamTable {
 public:
  explicit StreamTable(std::uint64_t count) : count_(count) {}

  bool apart() const { return apart_; }
  // State of all VPs while they are alike; afterwards of the VPs without a page yet.
  StreamState& all() { return all_; }
  const StreamState& all() const { return all_; }
  // go_apart(): each VP has a position and flags of its own. come_together() undoes this where all are alike again.
  void go_apart();
  void come_together();

  // Allocates the page of the state.
  StreamState& operator[](std::uint64_t local) {
    if (local / kPerPage != number_) turn_to(local / kPerPage);
    return page_[local % kPerPage];
  }
  // As operator[], but allocates no page.
  const StreamState& look(std::uint64_t local) const {
    if (local / kPerPage == number_) return page_[local % kPerPage];
    const auto page = pages_.find(local / kPerPage);
    return page == pages_.end() ? all_ : page->second[local % kPerPage];
  }
  std::uint64_t position(std::uint64_t local) const { return (apart_ ? look(local) : all_).position; }
  bool has(std::uint64_t local, std::uint64_t flags) const { return (apart_ ? look(local) : all_).has(flags); }
  void clear(std::uint64_t local, std::uint64_t flags);
  // Allocates the pages of the VPs for which `takes_part` is true, so that operator[] does not allocate for these
  // later.
  template <class TakesPart>
  void make(TakesPart takes_part) {
    for (std::uint64_t local = 0; local < count_;) {
      const bool here = takes_part(local);
      if (here) (void)operator[](local);
      local = here ? (local / kPerPage + 1) * kPerPage : local + 1;
    }
  }
  // Calls tell(local, bytes) for every stream with the flag, by number, and clears it. Ends with the first failure.
  template <class Tell>
  Status settle(std::uint64_t flag, Tell tell) {
    for (auto& [number, page] : pages_) {
      for (std::uint64_t i = 0; i < page.size(); ++i) {
        if (!page[i].has(flag)) continue;
        TW_RETURN_IF_ERROR(tell(number * kPerPage + i, page[i].bytes));
        page[i].clear(flag);
      }
    }
    return {};
  }

  // Bytes that were pushed back; the VPs are apart then.
  bool any_pushed() const { return !pushed_.empty(); }
  bool has_pushed(std::uint64_t local) const { return pushed_.count(local) != 0; }
  void push_back(std::uint64_t local, std::byte byte);
  void drop_pushed(std::uint64_t local) {
    if (!pushed_.empty()) pushed_.erase(local);
  }
  // Passes the next pushed-back byte to `take` and moves the position on. False: there is none.
  template <class Take>
  bool take_pushed(std::uint64_t local, Take take) {
    const auto pushed = pushed_.find(local);
    if (pushed == pushed_.end()) return false;
    take(pushed->second.back());
    pushed->second.pop_back();
    if (pushed->second.empty()) pushed_.erase(pushed);
    ++(*this)[local].position;
    return true;
  }

 private:
  static constexpr std::uint64_t kPerPage = 1024;
  void turn_to(std::uint64_t number);

  std::uint64_t count_;
  bool apart_ = false;
  StreamState all_;
  std::map<std::uint64_t, std::vector<StreamState>> pages_;
  std::uint64_t number_ = ~std::uint64_t{0};  // of the page asked for last
  StreamState* page_ = nullptr;
  std::unordered_map<std::uint64_t, std::vector<std::byte>> pushed_;  // by VP; the next one is the last
};

}  // namespace thalweg
