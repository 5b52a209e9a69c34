// Two-phase I/O (del Rosario, Bordawekar, Choudhary 1993; Thakur, Gropp, Lusk 1999: extended two-phase): tasks and
// aggregators exchange what lies in a window of the file, aggregators move windows between staging and storage, round
// after round; one round is exchanged while the one before is on its way (docs/design/two_phase.md).
#pragma once

#include <span>

#include "access/extent_list.hpp"
#include "engine/plan/aggregators.hpp"
#include "engine/transfer/transfer.hpp"
#include "group/group.hpp"

namespace thalweg {

struct TwoPhase {
  Group* group = nullptr;
  SharedFile* file = nullptr;
  Direction direction = Direction::read;
  const ExtentList* list = nullptr;  // of this task; null: it has nothing to move
  FileDomain range;                  // of all tasks
  bool overlapping = false;          // tasks may have bytes in common
  std::size_t n_aggregators = 1;
  std::span<const Aggregator> known;  // these, in order; none: the first tasks of a group of one process
  IoQueue* queue = nullptr;
  unsigned depth = 1;
  bool past_cache = false;
  bool sieve = false;

  Aggregator aggregator(std::size_t i) const {
    return known.empty() ? Aggregator{static_cast<std::int64_t>(i), 0} : known[i];
  }
  bool reads() const { return direction == Direction::read; }
  AggregatorBudget budget() const { return AggregatorBudget(file->strategy.aggregator_bytes); }
};

// Collective. The status is this task's own: all come to the end, whatever fails. A task's memory may be read or
// written by aggregators until all have agreed.
Op<TransferResult> two_phase(TwoPhase what);

}  // namespace thalweg
