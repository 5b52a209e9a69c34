#include "engine/shown.hpp"

#include <algorithm>
#include <cstring>

namespace thalweg {

namespace {

constexpr std::uint64_t kMost = ~std::uint64_t{0};

}  // namespace

Whole::Whole(std::size_t tasks)
    : shown_(tasks, &memory_), summaries_(&memory_), single_(&memory_), made_(&memory_), lists_(&memory_) {
  summaries_.reserve(tasks);
  single_.reserve(tasks);
  made_.reserve(tasks);
  lists_.reserve(tasks);
}

void Whole::read(const Gathered& gathered) {
  for (std::size_t i = 0; i < shown_.size(); ++i) std::memcpy(&shown_[i], gathered.part(i).data(), sizeof(Shown));
}

bool Whole::any_wrong() const {
  return std::any_of(shown_.begin(), shown_.end(), [](const Shown& shown) { return shown.code != 0; });
}

Status Whole::mismatch(bool one_process) const {
  const auto differs = [&](std::size_t task, const char* what) {
    return Status::error(Code::invalid_argument,
                         "tasks 0 and " + std::to_string(task) + " of one collective access " + what);
  };
  const Shown& first = shown_[0];
  for (std::size_t i = 1; i < shown_.size(); ++i) {
    const Shown& other = shown_[i];
    if (other.direction != first.direction) return differs(i, "differ: one reads, one writes");
    if (other.common != first.common) return differs(i, "differ: one gives common arguments, one its own");
    if ((other.placement == Placement::in_order) != (first.placement == Placement::in_order))
      return differs(i, "differ: one goes by the shared position, one by offsets");
    if (one_process && other.file != first.file) return differs(i, "name different files");
    if (!first.common) continue;
    const ExtentSummary& mine = first.summary;
    const ExtentSummary& theirs = other.summary;
    const bool same = mine.n == theirs.n && mine.bytes == theirs.bytes && mine.begin == theirs.begin &&
                      mine.end == theirs.end && (!one_process || mine.n != 1 || first.list == other.list);
    if (!same) return differs(i, "give different arguments where they must be common");
  }
  return {};
}

bool Whole::has_lists() const {
  return std::any_of(shown_.begin(), shown_.end(), [](const Shown& shown) { return shown.summary.n > 1; });
}

bool Whole::in_whole_blocks() const {
  return std::all_of(shown_.begin(), shown_.end(), [](const Shown& shown) { return shown.whole_blocks; });
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

Pattern Whole::pattern() {
  summaries_.clear();
  for (std::size_t i = 0; i < movers(); ++i) summaries_.push_back(shown_[i].summary);
  return classify(summaries_);
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
