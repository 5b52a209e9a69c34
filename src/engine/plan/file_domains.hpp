// File domains: the file cut into as many stretches as there are workers, each with about the same number of bytes to
// move, whoever owns the memory.
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

struct DomainRules {
  std::size_t workers = 1;
  std::uint64_t block = 4096;     // borders lie on multiples of it, where that leaves every share within a block
  std::uint64_t least_bytes = 0;  // fewer workers rather than shares below this
};

// Exactly `workers` domains in file order, the last ones empty when there are fewer shares; together they cover every
// extent of every list once. Cost: workers * lists * log n, some ten times, 380 times at most. Depends on the
// arguments only: every task that has the same lists computes the same domains.
std::vector<FileDomain> cut_domains(std::span<const ExtentList* const> lists, const DomainRules& rules);

}  // namespace thalweg
