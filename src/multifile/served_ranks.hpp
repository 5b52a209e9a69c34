// Which logical files a handle serves: stretches of consecutive ranks, found by rank or by their number in the handle.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "multifile/write_plan.hpp"

namespace thalweg {

class ServedRanks {
 public:
  struct Found {
    std::uint64_t slot = 0;  // number in the handle, from 0
    Stretch at;              // cut so that `first` is the rank looked for
  };

  ServedRanks() = default;
  explicit ServedRanks(std::vector<Stretch> stretches) : stretches_(std::move(stretches)) {
    if (!stretches_.empty()) first_ = stretches_.front().first;
    begin_.reserve(stretches_.size());
    for (const Stretch& s : stretches_) {
      begin_.push_back(count_);
      count_ += s.count;
    }
    by_rank_.resize(stretches_.size());
    for (std::size_t i = 0; i < by_rank_.size(); ++i) by_rank_[i] = i;
    std::sort(by_rank_.begin(), by_rank_.end(),
              [this](std::size_t a, std::size_t b) { return stretches_[a].first < stretches_[b].first; });
  }

  std::uint64_t count() const { return count_; }
  std::uint64_t first() const { return first_; }  // the rank named first; only when count() > 0

  std::optional<Found> find(std::uint64_t rank) const {
    const auto above = std::partition_point(by_rank_.begin(), by_rank_.end(),
                                            [&](std::size_t i) { return stretches_[i].first <= rank; });
    if (above == by_rank_.begin()) return std::nullopt;
    const std::size_t i = *std::prev(above);
    const Stretch& s = stretches_[i];
    const std::uint64_t within = rank - s.first;
    if (within >= s.count) return std::nullopt;
    return Found{begin_[i] + within, {rank, s.count - within, s.local + within, s.physical}};
  }

 private:
  std::vector<Stretch> stretches_;
  std::vector<std::uint64_t> begin_;  // slot of the first rank of each stretch
  std::vector<std::size_t> by_rank_;  // stretches by first rank
  std::uint64_t count_ = 0;
  std::uint64_t first_ = 0;
};

// The ranks that a task of `size` serves of `n_logical` files: as it says, or its even share of consecutive ones.
Result<std::vector<RankRun>> serving_runs(const Serving& serving, TaskRank rank, TaskRank size,
                                          std::uint64_t n_logical);

}  // namespace thalweg
