// BatchList: batches of a vpfile in the order in which they were made, and those that have a given VP. The pieces of
// one VP follow each other in this order.
//
// One call at a time. A pass through VPs in the order of their numbers is fast.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "vpfile/format/batch.hpp"

namespace thalweg {

class BatchList {
 public:
  BatchList() = default;
  explicit BatchList(std::span<const format::Batch> batches) : all_(batches) {}  // borrowed; nothing is added to them

  void add(const format::Batch& batch) {
    added_.push_back(batch);
    all_ = added_;
    is_sorted_ = false;
  }
  std::span<const format::Batch> all() const { return all_; }
  // The batches that have `vp`. Valid until the next call.
  std::span<const format::Batch* const> of(std::uint64_t vp) {
    if (vp - window_begin_ >= window_end_ - window_begin_ || !is_sorted_) [[unlikely]]
      move_window(vp);
    return in_window_;
  }
  // The first VP from `vp` on that is in a batch; kNone: there is none.
  static constexpr std::uint64_t kNone = std::uint64_t{1} << 63;
  std::uint64_t next(std::uint64_t vp);

 private:
  void sort();
  void move_window(std::uint64_t vp);

  std::vector<format::Batch> added_;
  std::span<const format::Batch> all_;
  bool is_sorted_ = false;
  std::vector<std::uint32_t> by_vp_;  // places in all_
  std::uint32_t most_vps_ = 0;        // of a batch
  std::uint64_t window_begin_ = 0;    // these VPs are all in the batches of in_window_, and in no others
  std::uint64_t window_end_ = 0;
  std::vector<const format::Batch*> in_window_;
};

}  // namespace thalweg
