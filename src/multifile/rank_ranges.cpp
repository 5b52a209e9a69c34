#include "multifile/rank_ranges.hpp"

#include <fmt/core.h>

#include <utility>

namespace thalweg {

namespace {

Status bad_rank(std::int64_t rank, std::uint64_t n_logical) {
  const std::string there = n_logical == 0 ? "none" : fmt::format("0 to {}", n_logical - 1);
  return Status::error(Code::invalid_argument, "logical file {} is asked for; there are {}", rank, there);
}

Status check_named_once(std::vector<RankRange> ranges) {
  std::ranges::sort(ranges, {}, &RankRange::first);
  for (std::size_t i = 1; i < ranges.size(); ++i)
    if (ranges[i].first < ranges[i - 1].first + ranges[i - 1].count)
      return Status::error(Code::invalid_argument,
                           "logical file {} is named twice in the set of logical files of one task", ranges[i].first);
  return {};
}

Result<std::vector<RankRange>> ranges_of_list(const std::vector<std::int64_t>& list, std::uint64_t n_logical) {
  std::vector<RankRange> ranges;
  for (const std::int64_t rank : list) {
    if (rank < 0 || static_cast<std::uint64_t>(rank) >= n_logical) return bad_rank(rank, n_logical);
    const auto r = static_cast<std::uint64_t>(rank);
    if (!ranges.empty() && ranges.back().first + ranges.back().count == r) {
      ++ranges.back().count;
    } else {
      ranges.push_back({r, 1});
    }
  }
  TW_RETURN_IF_ERROR(check_named_once(ranges));
  return ranges;
}

}  // namespace

Result<std::vector<RankRange>> served_ranges(const Serving& serving, TaskRank rank, TaskRank size,
                                             std::uint64_t n_logical, std::uint64_t n_numbered) {
  if (serving.kind == Serving::Kind::list) return ranges_of_list(serving.list, n_logical);
  RankRange range{static_cast<std::uint64_t>(serving.first), static_cast<std::uint64_t>(serving.count)};
  if (serving.kind == Serving::Kind::automatic) {
    std::vector<RankRange> shares;
    const auto task = static_cast<std::uint64_t>(rank), tasks = static_cast<std::uint64_t>(size);
    const auto take_share = [&](std::uint64_t first, std::uint64_t n) {
      const std::uint64_t begin = even_share(task, tasks, n), end = even_share(task + 1, tasks, n);
      if (begin < end) shares.push_back({first + begin, end - begin});
    };
    take_share(0, n_numbered);
    if (!std::cmp_equal(serving.n_logical, n_numbered)) take_share(n_numbered, n_logical - n_numbered);
    return shares;
  }
  if (range.first > n_logical || range.count > n_logical - range.first) {
    return bad_rank(serving.first + serving.count - 1, n_logical);
  }
  return range.count == 0 ? std::vector<RankRange>{} : std::vector<RankRange>{range};
}

ServedRanges::ServedRanges(std::vector<PlacedRange> ranges) : ranges_(std::move(ranges)) {
  if (!ranges_.empty()) first_ = ranges_.front().first;
  for (PlacedRange& range : ranges_) {
    range.slot = count_;
    count_ += range.count;
  }
  std::ranges::sort(ranges_, {}, &PlacedRange::first);
}

std::optional<PlacedRange> ServedRanges::find(std::uint64_t rank) const {
  const auto above = std::ranges::upper_bound(ranges_, rank, {}, &PlacedRange::first);
  if (above == ranges_.begin()) return std::nullopt;
  const PlacedRange& range = *std::prev(above);
  const std::uint64_t within = rank - range.first;
  if (within >= range.count) return std::nullopt;
  return PlacedRange{rank, range.count - within, range.local + within, range.physical, range.slot + within};
}

}  // namespace thalweg
