#include "engine/plan/runs.hpp"

#include <algorithm>

namespace thalweg {

namespace {

constexpr std::size_t kPiecesAtFirst = 1024;

constexpr auto kComesAfter = [](const auto& a, const auto& b) { return a.comes_after(b); };

}  // namespace

RunReader::RunReader(std::span<const ExtentList* const> lists, FileDomain domain, Direction direction, Limits limits)
    : domain_(domain), direction_(direction), limits_(limits), done_(domain.begin) {
  limits_.most_pieces = std::max<std::size_t>(limits_.most_pieces, 1);
  limits_.most_bytes = std::max<std::uint64_t>(limits_.most_bytes, 1);
  pieces_.reserve(std::min(limits_.most_pieces, kPiecesAtFirst));
  if (domain.empty()) return;
  for (std::size_t i = 0; i < lists.size(); ++i) {
    const std::span<const Extent> all = lists[i]->extents();
    const Extent* begin = all.data() + lists[i]->first_beyond(domain.begin);
    const Extent* end = std::partition_point(begin, all.data() + all.size(),
                                             [&](const Extent& extent) { return extent.offset < domain.end; });
    if (begin != end) heap_.push_back({begin, end, begin->offset, i});
  }
  std::make_heap(heap_.begin(), heap_.end(), kComesAfter);
  step();
}

bool RunReader::next(Run& run) {
  pieces_.clear();
  run.bytes = 0;
  while (current_.at != current_.end && take(run)) {
  }
  run.pieces = pieces_;
  return run.bytes > 0;
}

// Adds the rest of the current extent to the run. False when it does not belong to the run, or not all of it.
bool RunReader::take(Run& run) {
  const Extent& extent = *current_.at;
  const std::uint64_t begin = std::max(current_.from, done_);
  const std::uint64_t end = std::min(extent.end(), domain_.end);
  if (begin >= end) {
    step();
    return true;
  }
  if (run.bytes == 0) {
    run.offset = begin;
  } else if (begin != run.offset + run.bytes || run.bytes == limits_.most_bytes) {
    return false;
  }
  const Piece piece{extent.memory + (begin - extent.offset), std::min(end - begin, limits_.most_bytes - run.bytes)};
  const bool goes_on = !pieces_.empty() && pieces_.back().memory + pieces_.back().bytes == piece.memory;
  if (goes_on) {
    pieces_.back().bytes += piece.bytes;
  } else if (pieces_.size() == limits_.most_pieces) {
    return false;
  } else {
    pieces_.push_back(piece);
  }
  run.bytes += piece.bytes;
  const std::uint64_t taken = begin + piece.bytes;
  if (direction_ == Direction::write) done_ = taken;
  if (taken < end) {
    cut(taken);
    return false;
  }
  step();
  return true;
}

// The rest of the current extent begins at `at`. A write goes on with it at once; for a read it waits until no other
// extent begins before it.
void RunReader::cut(std::uint64_t at) {
  if (direction_ == Direction::write) return;
  heap_.push_back({current_.at, current_.at + 1, at, current_.list});
  std::push_heap(heap_.begin(), heap_.end(), kComesAfter);
  step();
}

// Goes on to the next extent of all lists.
void RunReader::step() {
  if (current_.at != current_.end && ++current_.at != current_.end) {
    current_.from = current_.at->offset;
    if (!heap_.empty() && current_.comes_after(heap_.front())) swap_with_front();
  } else if (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), kComesAfter);
    current_ = heap_.back();
    heap_.pop_back();
  }
}

// The front of the heap becomes current, and the current list sinks to its place: half the comparisons of a pop and a
// push.
void RunReader::swap_with_front() {
  const Cursor sinking = current_;
  current_ = heap_.front();
  std::size_t hole = 0;
  for (std::size_t child = 1; child < heap_.size(); child = 2 * hole + 1) {
    if (child + 1 < heap_.size() && heap_[child].comes_after(heap_[child + 1])) ++child;
    if (!sinking.comes_after(heap_[child])) break;
    heap_[hole] = heap_[child];
    hole = child;
  }
  heap_[hole] = sinking;
}

}  // namespace thalweg
