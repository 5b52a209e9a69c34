// Sorts many items in runs, so that the work can be stopped between runs and between items.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "base/watch.hpp"

namespace thalweg {

inline constexpr std::size_t kRunItems = 1 << 15;  // items of one run: a few milliseconds

// Merges runs that it borrows. T is ordered by <.
template <class T>
class SortedRuns {
 public:
  void add(std::span<T> run) {
    if (run.empty()) return;
    std::sort(run.begin(), run.end());
    runs_.push_back(run);
    std::push_heap(runs_.begin(), runs_.end(), later);
  }
  // Adds all items, in runs; ends early when `steps` does.
  void add_all(std::span<T> items, Steps& steps) {
    for (; !items.empty() && steps.go_on_now(); items = items.subspan(std::min(items.size(), kRunItems)))
      add(items.first(std::min(items.size(), kRunItems)));
  }
  // The next item; null behind the last one. Nothing may be added once this was called.
  const T* next() {
    if (runs_.empty()) return nullptr;
    std::pop_heap(runs_.begin(), runs_.end(), later);
    const T* const item = &runs_.back().front();
    runs_.back() = runs_.back().subspan(1);
    if (runs_.back().empty()) {
      runs_.pop_back();
    } else {
      std::push_heap(runs_.begin(), runs_.end(), later);
    }
    return item;
  }

 private:
  static bool later(std::span<T> a, std::span<T> b) { return b.front() < a.front(); }

  std::vector<std::span<T>> runs_;  // a heap; the run with the first item is in front
};

}  // namespace thalweg
