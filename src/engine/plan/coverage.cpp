#include "engine/plan/coverage.hpp"

#include <algorithm>
#include <bit>

namespace thalweg {

namespace {

constexpr std::uint64_t kAll = ~std::uint64_t{0};

}  // namespace

void Coverage::begin(FileDomain window) {
  window_ = window;
  words_.assign((window.end - window.begin + 63) / 64, 0);
}

void Coverage::add(std::uint64_t from, std::uint64_t to) {
  if (from >= to) return;
  const std::uint64_t first = from - window_.begin;
  const std::uint64_t last = to - 1 - window_.begin;
  const std::uint64_t head = kAll << first % 64;
  const std::uint64_t tail = kAll >> (63 - last % 64);
  if (first / 64 == last / 64) {
    words_[first / 64] |= head & tail;
    return;
  }
  words_[first / 64] |= head;
  for (std::uint64_t word = first / 64 + 1; word < last / 64; ++word) words_[word] = kAll;
  words_[last / 64] |= tail;
}

std::uint64_t Coverage::find(std::uint64_t at, bool touched) const {
  if (at >= window_.end) return window_.end;
  const std::uint64_t flip = touched ? 0 : kAll;
  const std::uint64_t first = at - window_.begin;
  std::uint64_t word = first / 64;
  std::uint64_t bits = (words_[word] ^ flip) & (kAll << first % 64);
  while (bits == 0 && ++word < words_.size()) bits = words_[word] ^ flip;
  if (bits == 0) return window_.end;
  const auto bit = static_cast<std::uint64_t>(std::countr_zero(bits));
  return std::min(window_.begin + word * 64 + bit, window_.end);
}

FileDomain Coverage::next(std::uint64_t from, std::uint64_t gap) const {
  FileDomain stretch{find(std::max(from, window_.begin), true), 0};
  if (stretch.begin == window_.end) return {};
  stretch.end = find(stretch.begin, false);
  while (stretch.end < window_.end) {
    const std::uint64_t more = find(stretch.end, true);
    if (more == window_.end || more - stretch.end > gap) break;
    stretch.end = find(more, false);
  }
  return stretch;
}

}  // namespace thalweg
