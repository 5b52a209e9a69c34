// Coverage: which bytes of a window are covered by extents, a bit for each. Extents may come in any number and order,
// and overlap: it takes an eighth of the window, and neither a sort nor a list.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/plan/file_domains.hpp"

namespace thalweg {

class Coverage {
 public:
  // No byte of `window` is covered yet. May throw std::bad_alloc, but not if an earlier window was as long.
  void begin(FileDomain window);
  // [from, to) lies within the window.
  void add(std::uint64_t from, std::uint64_t to);
  // The first covered range from `from` on; ranges not more than `gap` bytes apart are one. Empty: there is none.
  FileDomain next(std::uint64_t from, std::uint64_t gap) const;

 private:
  // The first byte from `at` on that is covered, or is not; the end of the window where there is none.
  std::uint64_t find(std::uint64_t at, bool touched) const;

  FileDomain window_;
  std::vector<std::uint64_t> words_;  // bit i of word w: byte 64w + i of the window
};

}  // namespace thalweg
