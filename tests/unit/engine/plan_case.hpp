// PlanCase: an access in numbers, for tests of what is planned for it.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/plan/plan.hpp"

namespace thalweg {

struct PlanCase {
  Direction direction = Direction::write;
  std::size_t tasks = 1;
  bool shared_memory = false;
  bool common = false;
  bool may_sieve_writes = true;
  std::uint64_t staging_bytes = std::uint64_t{1} << 20;
  std::optional<Method> method;
  std::size_t cores = 0;
  std::size_t workers = 0;
  std::size_t most_aggregators = 0;
  std::size_t aggregators = 0;
  Shape shape = Shape::empty;
  std::uint64_t bytes = 0, begin = 0, end = 0, runs = 0, pieces = 0;
  std::uint64_t close_bytes = 0, close_runs = 0;
  double largest_share = 1;
};

inline GroupAccess access_of(const PlanCase& what) {
  GroupAccess access;
  access.first.direction = what.direction;
  access.first.common = what.common;
  access.tasks = what.tasks;
  access.shared_memory = what.shared_memory;
  access.may_sieve_writes = what.may_sieve_writes;
  access.most_aggregators = what.most_aggregators;
  access.bytes = what.bytes;
  access.begin = what.begin;
  access.end = what.end;
  access.runs = what.runs;
  access.pieces = what.pieces;
  access.close_bytes = what.close_bytes;
  access.close_runs = what.close_runs;
  access.most_bytes = static_cast<std::uint64_t>(static_cast<double>(what.bytes) * what.largest_share);
  access.overlapping = what.shape == Shape::overlapping;
  access.rising = access.falling = what.shape != Shape::interleaved;
  access.regular = what.shape != Shape::sparse;
  return access;
}

inline Plan choose_plan(const PlanCase& what, const StorageCosts& costs) {
  Strategy strategy;
  strategy.costs = costs;
  strategy.sieve_writes = true;
  strategy.staging_bytes = what.staging_bytes;
  strategy.method = what.method;
  strategy.workers = what.workers;
  strategy.aggregators = what.aggregators;
  strategy.cores_of_node = what.cores;
  return choose_plan(access_of(what), strategy);
}

// What decides, besides the costs, whether an access may go past the page cache.
struct DirectIo {
  bool possible = false;      // the file has it
  bool whole_blocks = false;  // extents begin and end on blocks of the page cache
};

inline Plan plan_access(const Strategy& strategy, const PlanCase& what, DirectIo direct) {
  GroupAccess access = access_of(what);
  access.may_bypass_cache = direct.possible;
  access.whole_blocks = direct.whole_blocks;
  return choose_plan(access, strategy);
}

}  // namespace thalweg
