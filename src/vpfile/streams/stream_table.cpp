#include "vpfile/streams/stream_table.hpp"

#include <algorithm>

namespace thalweg {

namespace {

constexpr std::uint64_t kTold = StreamState::kEof | StreamState::kError;  // flags that a caller can ask for

}  // namespace

void StreamTable::go_apart() {
  if (apart_) return;
  for (auto& [number, page] : pages_) {
    for (StreamState& state : page) {
      state.position = all_.position;
      state.clear(kTold);
      state.cursor_and_flags |= all_.cursor_and_flags;
    }
  }
  apart_ = true;
}

void StreamTable::come_together() {
  if (!apart_ || !pushed_.empty()) return;
  const std::uint64_t position = look(0).position;
  const auto alike = [&](const StreamState& state) { return state.position == position && !state.has(kTold); };
  for (const auto& [number, page] : pages_)
    if (!std::all_of(page.begin(), page.end(), alike)) return;
  const bool all_have_pages = pages_.size() * kPerPage >= count_;
  if (!all_have_pages && !alike(all_)) return;
  all_.position = position;
  all_.clear(kTold);
  apart_ = false;
}

void StreamTable::turn_to(std::uint64_t number) {
  auto page = pages_.find(number);
  if (page == pages_.end())
    page = pages_.emplace(number, std::vector(std::min(kPerPage, count_ - number * kPerPage), all_)).first;
  page_ = page->second.data();
  number_ = number;
}

void StreamTable::clear(std::uint64_t local, std::uint64_t flags) {
  if (!(apart_ ? look(local) : all_).has(flags)) return;
  go_apart();
  (*this)[local].clear(flags);
}

void StreamTable::push_back(std::uint64_t local, std::byte byte) {
  go_apart();
  StreamState& state = (*this)[local];
  pushed_[local].push_back(byte);
  --state.position;
  state.clear(StreamState::kEof);
}

}  // namespace thalweg
