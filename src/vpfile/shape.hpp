// The virtual processors of a task: a box of the shape of all, numbered in row-major order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.hpp"

namespace thalweg {

using VpShape = std::vector<std::uint64_t>;
std::string text_of(const VpShape& shape);  // "(2, 3)"

// Part of a shape: `count` VPs of each dimension from `start` on. Any count may be 0.
struct VpBox {
  VpShape start;
  VpShape count;
};

// The default box of task `task` of `tasks`: the first dimension with at least `tasks` indices, else the longest one,
// is cut into ranges whose lengths differ by at most one.
VpBox default_box(const VpShape& shape, std::uint64_t task, std::uint64_t tasks);
// Whether the box lies in the shape.
Status check_box(const VpShape& shape, const VpBox& box);

// The VPs of a task. Local numbers 0 .. count()-1 go through the box in row-major order. Their numbers in the shape
// form runs of consecutive numbers, all of one length.
class LocalVps {
 public:
  LocalVps() = default;
  LocalVps(const VpShape& shape, VpBox box);

  std::uint64_t count() const { return n_runs_ * run_length_; }
  const VpBox& box() const { return box_; }
  std::uint64_t n_runs() const { return n_runs_; }
  std::uint64_t run_length() const { return run_length_; }
  std::uint64_t run_begin(std::uint64_t run) const;  // number of its first VP
  std::uint64_t number(std::uint64_t local) const {
    return n_runs_ == 1 ? begin_ + local : run_begin(local / run_length_) + local % run_length_;
  }
  std::optional<std::uint64_t> local(std::uint64_t number) const;  // none: another task's, or not in the shape

 private:
  VpBox box_;
  VpShape strides_;        // of the shape, in VPs
  std::size_t outer_ = 0;  // leading dimensions, outside of a run
  std::uint64_t begin_ = 0;
  std::uint64_t n_runs_ = 0;
  std::uint64_t run_length_ = 0;
};

// Fingerprint of the VPs of a box, computed from its corners, whatever its size. Fingerprints of disjoint boxes add up,
// by add_fingerprints(), to that of their union. If those of all tasks add up to that of the shape, the boxes cover
// each VP exactly once; the probability of an error is 64 in 2^61.
std::uint64_t fingerprint(const VpBox& box);
std::uint64_t fingerprint(const VpShape& shape);  // of all its VPs
std::uint64_t add_fingerprints(std::uint64_t a, std::uint64_t b);

}  // namespace thalweg
