// Coverage: which bytes of a window are touched, a bit for each. Extents may come in any order, as many as they like
// and over one another: it costs an eighth of the window, neither a sort nor a list.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/plan/file_domains.hpp"

namespace thalweg {

class Coverage {
 public:
  // Of `window`, nothing of it touched yet. May throw std::bad_alloc, with memory for a longer window before never.
  void begin(FileDomain window);
  // [from, to) lies within the window.
  void add(std::uint64_t from, std::uint64_t to);
  // The first stretch from `from` on; what lies not more than `gap` bytes apart is one. Empty: there is none.
  FileDomain next(std::uint64_t from, std::uint64_t gap) const;

 private:
  // The first byte at or behind `at` that is touched, or is not; the end of the window where there is none.
  std::uint64_t find(std::uint64_t at, bool touched) const;

  FileDomain window_;
  std::vector<std::uint64_t> words_;  // bit i of word w: byte 64w + i of the window
};

}  // namespace thalweg
