// BatchList: batches of a vpfile in the order in which they were made, and those that have a given VP. The pieces of
// one VP follow each other in this order.
//
// One call at a time. A pass through VPs in the order of their numbers is fast.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "vpfile/format/batch.hpp"

namespace thalweg {

class BatchList {
 public:
  BatchList() = default;
  // Those of `batches` that are lost, or the others. They are borrowed; nothing is added to them.
  explicit BatchList(std::span<const format::Batch> batches, bool lost = false) : all_(batches), lost_(lost) {}

  void add(const format::Batch& batch) {
    added_.push_back(batch);
    all_ = added_;
  }
  std::span<const format::Batch> all() const { return all_; }
  // The batches that have `vp`. Valid until the next call.
  std::span<const format::Batch* const> of(std::uint64_t vp) {
    if (vp - window_begin_ >= window_end_ - window_begin_ || !is_sorted()) [[unlikely]]
      move_window(vp);
    return in_window_;
  }
  // The first VP from `vp` on that is in a batch; kNone: there is none.
  static constexpr std::uint64_t kNone = std::uint64_t{1} << 63;
  std::uint64_t next(std::uint64_t vp);

 private:
  static constexpr std::size_t kSizes = 33;  // of batches: size s has 2^(s-1) to 2^s - 1 VPs
  bool is_sorted() const { return n_sorted_ == all_.size(); }
  void sort();
  void move_window(std::uint64_t vp);

  std::vector<format::Batch> added_;
  std::span<const format::Batch> all_;
  bool lost_ = false;
  std::size_t n_sorted_ = 0;                              // the first of all_
  std::array<std::vector<std::uint32_t>, kSizes> by_vp_;  // places in all_, by size
  std::uint64_t window_begin_ = 0;  // these VPs are all in the batches of in_window_, and in no others
  std::uint64_t window_end_ = 0;
  std::vector<const format::Batch*> in_window_;
};

}  // namespace thalweg
