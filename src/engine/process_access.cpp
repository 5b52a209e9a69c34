#include "engine/process_access.hpp"

#include <algorithm>
#include <cstring>

namespace thalweg {

ProcessAccess::ProcessAccess(std::size_t tasks)
    : summaries_(tasks, &memory_), single_(&memory_), made_(&memory_), lists_(&memory_) {
  single_.reserve(tasks);
  made_.reserve(tasks);
  lists_.reserve(tasks);
}

GroupAccess ProcessAccess::read(const Gathered& gathered) {
  GroupAccess all;
  for (std::size_t i = 0; i < summaries_.size(); ++i) {
    std::memcpy(&summaries_[i], gathered.part(i).data(), sizeof(AccessSummary));
    all.join(GroupAccess(summaries_[i], static_cast<TaskRank>(i)));
  }
  return all;
}

std::span<const AccessSummary> ProcessAccess::movers() const {
  const std::span<const AccessSummary> all = summaries_;
  return !all.empty() && all.front().common ? all.first(1) : all;
}

std::uint64_t ProcessAccess::bytes_before(std::size_t task) const {
  std::uint64_t sum = 0;  // of numbers below 2^63; at most 2^64-1, then that
  for (const AccessSummary& one : movers().first(std::min(task, movers().size())))
    sum += std::min(one.extents.bytes, ~std::uint64_t{0} - sum);
  return sum;
}

void ProcessAccess::place_in_order(std::uint64_t base) {
  for (AccessSummary& one : summaries_) {
    one.extents.begin = base;
    one.extents.end = base + one.extents.bytes;
    if (!one.common) base = one.extents.end;
  }
}

std::span<const ExtentList* const> ProcessAccess::lists() {
  for (const AccessSummary& one : movers()) {
    if (one.extents.n == 0) continue;
    if (one.extents.n > 1) {
      lists_.push_back(one.list);
      continue;
    }
    single_.push_back({one.memory, one.extents.bytes, one.extents.begin});
    made_.push_back(ExtentList::of({&single_.back(), 1}).value());  // its task has checked it
    lists_.push_back(&made_.back());
  }
  return lists_;
}

std::span<const Piece> ProcessAccess::pieces(std::array<Piece, kMostPieces>& room) const {
  std::size_t n = 0;
  for (const AccessSummary& one : movers()) {
    if (one.extents.n == 0) continue;
    if (n > 0 && room[n - 1].memory + room[n - 1].bytes == one.memory) {
      room[n - 1].bytes += one.extents.bytes;
    } else {
      room[n++] = {one.memory, one.extents.bytes};
    }
  }
  return {room.data(), n};
}

}  // namespace thalweg
