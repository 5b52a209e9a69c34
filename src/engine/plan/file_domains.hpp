// File domains: the range of an access cut into as many parts as there are workers, each with about as many bytes to
// move, whichever tasks they belong to.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "access/extent_list.hpp"

namespace thalweg {

struct FileDomain {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  bool empty() const { return begin >= end; }
};

// Exactly `workers` domains in file order, the last ones empty when there are fewer bytes; together they cover every
// extent of every list once. Borders lie on multiples of `block` where that leaves every share within a block. Cost:
// workers * lists * log n, some ten times, 380 times at most. Depends on the arguments only: every task that has the
// lists computes the same domains.
std::vector<FileDomain> cut_domains(std::span<const ExtentList* const> lists, std::size_t workers, std::uint64_t block);

}  // namespace thalweg
