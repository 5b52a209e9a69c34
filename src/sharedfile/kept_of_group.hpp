// What a group keeps from one file that it opens to the next: who may aggregate, and the groups of a shared file and of
// a multifile that were closed. All cost meetings of all tasks.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>

#include "group/group.hpp"

namespace thalweg {

// The groups of one open shared file or multifile: duplicates of the group that opened it. A multifile has no lanes.
struct FileGroups {
  static constexpr std::size_t kLanes = 4;

  std::int64_t number = -1;  // which of those that the group has made; less than 0: these are not left to another file
  std::shared_ptr<Group> own;
  std::array<std::shared_ptr<Group>, kLanes> lanes;  // for nonblocking collectives
};

struct FoundAggregators;

enum class KeptFor { file, multifile };

// Whether the group leaves its duplicates to another file. Some make them without a meeting, or give them to the user's
// functions, who are to get them back when the file is closed.
inline bool leaves_groups(const Group& group) { return group.place().processes > 1 && !group.relays(); }

// Of this task. Files are closed by any thread and in any order, so that tasks may have different spare ones: who takes
// one has to agree on its number.
class KeptOfGroup {
 public:
  // May throw std::bad_alloc, the first time.
  static std::shared_ptr<KeptOfGroup> of(Group& group);

  explicit KeptOfGroup(bool leads) : leads_(leads) {}
  ~KeptOfGroup() {
    (void)take_spare(KeptFor::file);
    (void)take_spare(KeptFor::multifile);
  }
  KeptOfGroup(const KeptOfGroup&) = delete;
  KeptOfGroup& operator=(const KeptOfGroup&) = delete;

  FileGroups take_spare(KeptFor what);
  // Nobody may use them from here on. Of two the one that was made later stays. Where 32 groups of this process have
  // some already they go: MPI has some 2000 communicators. Tasks may free theirs at different times, which no MPI waits
  // for.
  void leave(KeptFor what, FileGroups groups) noexcept;
  std::int64_t next_number() { return n_made_++; }

  std::shared_ptr<const FoundAggregators> aggregators;  // null: they were not looked for yet

 private:
  const bool leads_;  // its process, whose communicators its groups have
  std::int64_t n_made_ = 0;
  std::mutex mutex_;                 // of what is below
  std::array<FileGroups, 2> spare_;  // by KeptFor
};

}  // namespace thalweg
