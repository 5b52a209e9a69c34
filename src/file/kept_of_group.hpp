// What a group keeps from one file that it opens to the next: who may aggregate, and the groups of a file that was
// closed. Both cost meetings of all tasks.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>

#include "group/group.hpp"

namespace thalweg {

// Of one open file: duplicates of the group that opened it.
struct FileGroups {
  static constexpr std::size_t kLanes = 4;

  std::int64_t number = -1;  // which of those that the group has made; less than 0: these are not left to another file
  std::shared_ptr<Group> own;
  std::array<std::shared_ptr<Group>, kLanes> lanes;  // for nonblocking collectives
};

struct FoundAggregators;

// Of this task. Files are closed by any thread and in any order, so that tasks may have different spare ones: who takes
// one has to agree on its number.
class KeptOfGroup {
 public:
  // May throw std::bad_alloc, the first time.
  static std::shared_ptr<KeptOfGroup> of(Group& group);

  explicit KeptOfGroup(bool leads) : leads_(leads) {}
  ~KeptOfGroup() { (void)take_spare(); }
  KeptOfGroup(const KeptOfGroup&) = delete;
  KeptOfGroup& operator=(const KeptOfGroup&) = delete;

  FileGroups take_spare();
  // Nobody may use them from here on. Of two the one that was made later stays. Where 32 groups of this process have
  // some already they go: MPI has some 2000 communicators. Tasks may free theirs at different times, which no MPI waits
  // for.
  void leave(FileGroups groups) noexcept;
  std::int64_t next_number() { return n_made_++; }

  std::shared_ptr<const FoundAggregators> aggregators;  // null: they were not looked for yet

 private:
  const bool leads_;  // its process, whose communicators its groups have
  std::int64_t n_made_ = 0;
  std::mutex mutex_;  // of what is below
  FileGroups spare_;
};

}  // namespace thalweg
