#include "engine/shown.hpp"

#include <algorithm>
#include <cstring>

namespace thalweg {

namespace {

constexpr std::uint64_t kMost = ~std::uint64_t{0};

}  // namespace

Whole::Whole(std::size_t tasks) : shown_(tasks, &memory_), single_(&memory_), made_(&memory_), lists_(&memory_) {
  single_.reserve(tasks);
  made_.reserve(tasks);
  lists_.reserve(tasks);
}

void Whole::read(const Gathered& gathered) {
  for (std::size_t i = 0; i < shown_.size(); ++i) {
    std::memcpy(&shown_[i], gathered.part(i).data(), sizeof(Shown));
    facts_.join(Facts(shown_[i], static_cast<TaskRank>(i)));
  }
}

std::uint64_t Whole::bytes_before(std::size_t task) const {
  std::uint64_t sum = 0;  // of numbers below 2^63
  for (std::size_t i = 0; i < std::min(task, movers()); ++i)
    sum = std::min(sum, kMost - shown_[i].summary.bytes) + shown_[i].summary.bytes;
  return sum;
}

void Whole::place_in_order(std::uint64_t base) {
  for (Shown& shown : shown_) {
    shown.summary.begin = base;
    shown.summary.end = base + shown.summary.bytes;
    shown.summary.runs = shown.summary.n > 0 ? 1 : 0;
    shown.summary.sorted = shown.summary.disjoint = true;
    if (!shown.common) base = shown.summary.end;
  }
}

std::span<const ExtentList* const> Whole::lists(std::size_t from, std::size_t to) {
  for (std::size_t i = from; i < std::min(to, movers()); ++i) {
    const Shown& shown = shown_[i];
    if (shown.summary.n == 0) continue;
    if (shown.summary.n > 1) {
      lists_.push_back(static_cast<const ExtentList*>(shown.list));
      continue;
    }
    auto* memory = static_cast<std::byte*>(const_cast<void*>(shown.list));
    single_.push_back({memory, shown.summary.bytes, shown.summary.begin});
    made_.push_back(ExtentList::of({&single_.back(), 1}).value());  // its owner has checked it
    lists_.push_back(&made_.back());
  }
  return lists_;
}

}  // namespace thalweg
