// A multifile that is written to a folder of each node (hint `tier`), and drained to the file system that they share.
#pragma once

#include <memory>

#include "multifile/multifile.hpp"
#include "multifile/tier/drainer.hpp"

namespace thalweg {

// State of a task from the open to the close.
struct Tier {
  MultifileOptions options;
  TierFolders folders;           // held by the node leader
  std::unique_ptr<Group> group;  // of the steps behind the close; null: one task
  bool leads = false;            // this task is the node leader
};

// Collective. open_multifile(), and with the hint `tier` on the tiers of the nodes: `tier` is set where the multifile is
// written. Before one is read, what programs that have ended left in the tiers is drained.
Op<Result<std::unique_ptr<Multifile>>> open_in_tier(Group& group, OpenRequest request, std::unique_ptr<Tier>& tier);
// Collective. close_multifile(), then the copy of each node's part on its partner, and the drain or its begin. `tier`
// may be null.
Op<Status> close_in_tier(Group& group, std::unique_ptr<Multifile> file, std::unique_ptr<Tier> tier);
// Collective. Copies the part of each node to the next node.
Op<Status> copy_to_partners(Group& group, Tier& tier);

}  // namespace thalweg
