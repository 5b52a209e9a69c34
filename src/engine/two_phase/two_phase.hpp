// Two-phase I/O (del Rosario, Bordawekar, Choudhary 1993; Thakur, Gropp, Lusk 1999: extended two-phase): tasks and
// aggregators exchange the bytes of one window of the file after another, and aggregators move windows between staging
// and storage; one round is exchanged while the window of the one before is transferred (docs/design/two_phase.md).
#pragma once

#include "engine/two_phase/parameters.hpp"

namespace thalweg {

// Collective. The status is this task's own: all tasks take part to the end, whatever fails. Aggregators may read or
// write a task's memory until all have agreed.
Op<TransferResult> two_phase(TwoPhase parameters);

}  // namespace thalweg
