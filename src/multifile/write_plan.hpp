// Who writes where: made by task 0 out of what all tasks ask for, when a multifile is created or appended to.
//
// A plan is a value. Task 0 gathers one WriteRequest per task, makes the WritePlan, and tells each task its WriteShare;
// memory is O(tasks + physical files) on task 0 and O(own logical files) elsewhere. What a task asks for and is told
// travels as the difference from what it would be if all tasks were alike, and task 0 keeps it as it came: that is some
// 25 bytes of each task, so that a million tasks need no more of task 0 than of an aggregator.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "group/group.hpp"
#include "group/wire.hpp"
#include "multifile/rank_ranges.hpp"
#include "multifile/read/read_set.hpp"
#include "storage/backend.hpp"

namespace thalweg {

struct WriteRequest {
  Status status;                // of the task's own arguments
  std::uint32_t arguments = 0;  // hash of what must be the same on all tasks
  std::uint64_t n_logical = 0;
  std::uint64_t chunk_bytes = kAuto;
  std::int64_t process = 0;
  std::int64_t node = 0;
  std::vector<RankRange> ranges;  // in the order in which the task names its ranks
};
// Of task `task` of `tasks`.
Bytes encode(const WriteRequest& request, std::size_t task, std::size_t tasks);

// The requests of all tasks, as they came: they are read one after the other.
class Requests {
 public:
  // Fails as the first task whose arguments are bad, differ from those of task 0, or whose ranks another one has too.
  static Result<Requests> decode(Gathered gathered);
  std::size_t tasks() const { return tasks_; }
  std::uint64_t n_logical() const { return n_logical_; }
  std::int64_t root_process() const { return root_process_; }  // task 0's
  std::int64_t nodes() const { return static_cast<std::int64_t>(nodes_); }
  std::size_t tasks_on_fullest_node() const { return tasks_on_fullest_node_; }

  // What one task asks for; its ranges are there until the next one is read.
  struct Asked {
    std::size_t task = 0;
    std::int64_t process = 0;
    std::int64_t node = 0;
    std::uint64_t chunk_bytes = kAuto;
    std::span<const RankRange> ranges;
  };
  // Calls fn(asked) for each task, by rank.
  template <class F>
  void for_each(F&& fn) const {
    WireReader in(data_);
    std::vector<RankRange> ranges;
    for (std::size_t task = 0; task < tasks_; ++task) fn(read_one(in, task, ranges));
  }

 private:
  Status check_heads(const Gathered& gathered);
  Status check_overlap() const;
  Status check_range(const RankRange& range, std::uint64_t end) const;
  void count_nodes();
  Asked read_one(WireReader& in, std::size_t task, std::vector<RankRange>& ranges) const;
  Bytes data_;
  std::size_t tasks_ = 0;
  std::uint64_t n_logical_ = 0;
  std::int64_t root_process_ = 0;
  std::size_t nodes_ = 1;
  std::size_t tasks_on_fullest_node_ = 1;
};

// One physical file as one process writes it.
struct DomainShare {
  std::uint32_t physical = 0;
  std::uint32_t session = 0;
  format::SlabLayout layout;
};

// What every task learns.
struct WriteCommon {
  std::uint32_t n_physical = 1;
  std::uint64_t n_logical = 0;
  std::uint64_t chunk_bytes = 0;  // for tasks without a wish of their own
  format::FileHeader header;      // of physical file 0; the others have another number, share and map
  std::string strategy;
  DomainShare usual;  // some domain: most others are like it but for their place
};
Bytes encode(const WriteCommon& common);
WriteCommon decode_common(ByteView bytes);

// What one task learns besides: the physical files it writes into, and where its ranks lie, in its own order.
struct WriteShare {
  std::vector<DomainShare> domains;
  std::vector<PlacedRange> ranges;
};
// Of task `task` of `tasks`, which asked for `ranges`.
WriteShare decode_share(ByteView bytes, const WriteCommon& common, std::span<const RankRange> ranges, std::size_t task,
                        std::size_t tasks);

// One physical file of the plan.
struct PlannedFile {
  format::FileHeader header;
  format::SessionPage session;
  std::uint64_t session_offset = 0;
  std::vector<std::uint64_t> ranks;  // Mapping::table: rank of each local index
  format::StateSlot state;           // as it will be while the session is open
};

struct WritePlan {
  WriteCommon common;
  RankMapping ranks;
  std::vector<PlannedFile> files;
  // Domains of processes `process`, process + 1, ... in one physical file, each of so many bytes.
  struct Domains {
    std::uint32_t physical = 0;
    std::uint32_t count = 0;
    std::int64_t process = 0;
    std::uint64_t prefix = 0;  // of the first
    std::uint64_t bytes = 0;
  };
  std::vector<Domains> domains;  // by physical file, then process
};

struct WritePlanInput {
  const Requests& requests;
  Options options;
  MappingFunction mapping;
  StorageInfo storage;
  int cores = 1;
};

// For a new multifile.
Result<WritePlan> plan_create(const WritePlanInput& input);
// For a further session of an existing one, which is open in `old` with all its files closed and sound.
Result<WritePlan> plan_append(const WritePlanInput& input, ReadSet& old);

// The share of a process in a physical file; none when it writes nothing there.
std::optional<DomainShare> domain_share(const WritePlan& plan, std::uint32_t physical, std::int64_t process);
// What each task learns of the plan.
Gathered encode_shares(const WritePlan& plan, const Requests& requests);

// Bytes of a new physical file up to its first slab: header, state, sections, session page, domains.
std::vector<std::byte> encode_front(const WritePlan& plan, const PlannedFile& file);
// Session page and domain section only, as they stand at file.session_offset.
std::vector<std::byte> encode_session_front(const WritePlan& plan, const PlannedFile& file);

}  // namespace thalweg
