// Drains closed multifiles in the background, each in a thread of its own. Those of one name are finished in the order in
// which they were closed.
#pragma once

#include <memory>
#include <string>

#include "multifile/tier/drain.hpp"

namespace thalweg {

// The folders in the tier of one node that hold its part of a multifile, and the copy of another node's.
struct TierFolders {
  std::shared_ptr<Backend> backend;
  TierRecord record;
  std::string own;
  std::string copy;  // of the part of another node; empty: none
  // The records, locked: no `thalweg drain` takes the folders of a running program.
  std::unique_ptr<StoredFile> held, held_copy;
  void release() {
    held.reset();
    held_copy.reset();
  }
  Status remove();
};

// drain_part(). Where another program copies the part, such as `thalweg drain --lost` on the partner, waits until it has
// arrived or that program is gone; unsafe after 60 seconds without a step.
Status drain_own(const TierFolders& folders);
// Returns the first failure of an earlier drain, unless it was returned before, or that of starting a thread.
Status begin_drain(TierFolders folders);
// Waits until this process has drained everything. Returns the first failure, as begin_drain() does. Nothing in the child
// of a fork.
Status await_drains();

}  // namespace thalweg
