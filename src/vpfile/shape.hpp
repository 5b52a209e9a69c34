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

// The box of task `task` of `tasks` where nobody says otherwise: the first dimension that has a place for every task,
// else the longest one, is cut into stretches that differ by one at most.
VpBox default_box(const VpShape& shape, std::uint64_t task, std::uint64_t tasks);
// Whether the box lies in the shape.
Status check_box(const VpShape& shape, const VpBox& box);

// Which VPs are a task's. Local numbers 0 .. count()-1 go through the box in row-major order. Their numbers in the
// shape come in runs of consecutive ones, all equally long.
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
  std::size_t outer_ = 0;  // dimensions that a run does not go through
  std::uint64_t begin_ = 0;
  std::uint64_t n_runs_ = 0;
  std::uint64_t run_length_ = 0;
};

// A number that tells a set of VPs from others, found from the corners of the box, whatever its size. Those of disjoint
// boxes add up, by add_fingerprints(), to that of their union. So boxes of all tasks cover the shape, each VP once, if
// theirs add up to that of the shape; or with a chance of 64 in 2^61.
std::uint64_t fingerprint(const VpBox& box);
std::uint64_t fingerprint(const VpShape& shape);  // of all its VPs
std::uint64_t add_fingerprints(std::uint64_t a, std::uint64_t b);

}  // namespace thalweg
