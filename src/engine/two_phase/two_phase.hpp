// Two-phase I/O (del Rosario, Bordawekar, Choudhary 1993; Thakur, Gropp, Lusk 1999: extended two-phase): tasks and
// aggregators exchange the bytes of one window of the file after another, and aggregators move windows between staging
// and storage; one round is exchanged while the window of the one before is transferred (docs/design/two_phase.md).
#pragma once

#include <span>

#include "access/extent_list.hpp"
#include "engine/plan/aggregators.hpp"
#include "engine/plan/group_access.hpp"
#include "engine/plan/stripe_order.hpp"
#include "engine/transfer/transfer.hpp"
#include "group/group.hpp"

namespace thalweg {

// The parameters of a two-phase access.
struct TwoPhase {
  Group* group = nullptr;
  const GroupAccess* access = nullptr;
  const ExtentList* list = nullptr;  // of this task; null: it has nothing to move
  std::size_t n_aggregators = 1;
  std::span<const Aggregator> known = {};  // these, in order; none: the first tasks of a group of one process
  TransferTask window_task = {};           // how an aggregator transfers a window; its lists come later
  StripeOrder order = {};                  // set by two_phase(); where it is on, `list` has its positions

  const SharedFile& file() const { return *window_task.file; }
  Aggregator aggregator(std::size_t i) const {
    return known.empty() ? Aggregator{static_cast<std::int64_t>(i), 0} : known[i];
  }
  bool reads() const { return access->reads(); }
  AggregatorBudget budget() const { return AggregatorBudget(file().strategy.aggregator_bytes); }
};

// Collective. The status is this task's own: all tasks take part to the end, whatever fails. Aggregators may read or
// write a task's memory until all have agreed.
Op<TransferResult> two_phase(TwoPhase parameters);

}  // namespace thalweg
