// Who writes where: made by task 0 out of what all tasks ask for, when a multifile is created or appended to.
//
// A plan is a value. Task 0 gathers one WriteRequest per task, makes the WritePlan, and tells each task its WriteShare;
// memory is O(tasks + physical files) on task 0 and O(own logical files) elsewhere.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "file/options.hpp"
#include "file/read_set.hpp"
#include "file/wire.hpp"
#include "format/multifile_header.hpp"
#include "group/group.hpp"

namespace thalweg {

// floor(i * n / parts) for i <= parts, where i * n may pass 2^64 (parts < 2^32).
constexpr std::uint64_t even_share(std::uint64_t i, std::uint64_t parts, std::uint64_t n) {
  return n / parts * i + n % parts * i / parts;
}

// Consecutive ranks.
struct RankRun {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

struct WriteRequest {
  Status status;                // of the task's own arguments
  std::uint64_t arguments = 0;  // hash of what must be the same on all tasks
  std::uint64_t n_logical = 0;
  std::uint64_t chunk_bytes = kAuto;
  std::int64_t process = 0;
  std::int64_t node = 0;
  std::vector<RankRun> runs;  // in the order in which the task names its ranks
};
Bytes encode(const WriteRequest& request);

// The requests of all tasks, flat.
class Requests {
 public:
  // Fails as the first task whose arguments are bad, differ from those of task 0, or whose ranks another one has too.
  static Result<Requests> decode(const Gathered& gathered);
  std::size_t tasks() const { return process_.size(); }
  std::uint64_t n_logical() const { return n_logical_; }
  std::int64_t process(std::size_t task) const { return process_[task]; }
  std::uint64_t chunk_bytes(std::size_t task) const { return chunk_bytes_[task]; }
  std::span<const RankRun> runs(std::size_t task) const {
    return std::span(runs_).subspan(run_begin_[task], run_begin_[task + 1] - run_begin_[task]);
  }
  std::int64_t nodes() const { return nodes_; }
  std::size_t tasks_on_fullest_node() const { return tasks_on_fullest_node_; }

 private:
  Status check_overlap() const;
  void count_nodes(const std::vector<std::int64_t>& node);
  std::uint64_t n_logical_ = 0;
  std::vector<std::int64_t> process_;
  std::vector<std::uint64_t> chunk_bytes_;
  std::vector<std::size_t> run_begin_;
  std::vector<RankRun> runs_;
  std::int64_t nodes_ = 1;
  std::size_t tasks_on_fullest_node_ = 1;
};

// What every task learns.
struct WriteCommon {
  std::uint32_t n_physical = 1;
  std::uint64_t n_logical = 0;
  std::uint64_t chunk_bytes = 0;  // for tasks without a wish of their own
  format::FileHeader header;      // of physical file 0; the others have another number, share and map
  std::string strategy;
};
Bytes encode(const WriteCommon& common);
WriteCommon decode_common(ByteView bytes);

// One physical file as one process writes it.
struct DomainShare {
  std::uint32_t physical = 0;
  std::uint32_t session = 0;
  format::SlabLayout layout;
};

// Consecutive ranks whose logical files lie in consecutive places of one physical file.
struct Stretch {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  std::uint64_t local = 0;  // local index of the first
  std::uint64_t physical = 0;
};

// What one task learns besides: the physical files it writes into, and where its ranks lie, in its own order.
struct WriteShare {
  std::vector<DomainShare> domains;
  std::vector<Stretch> stretches;
};
WriteShare decode_share(ByteView bytes);

// One physical file of the plan.
struct PlannedPart {
  format::FileHeader header;
  format::SessionPage session;
  std::uint64_t session_offset = 0;
  std::vector<std::uint64_t> domain_bytes;
  std::vector<std::uint64_t> ranks;  // Mapping::table: rank of each local index
  format::StateSlot state;           // as it will be while the session is open
};

struct WritePlan {
  WriteCommon common;
  format::Mapping mapping = format::Mapping::consecutive;
  std::vector<PlannedPart> parts;
  std::vector<std::uint64_t> bounds;  // Mapping::consecutive: first rank of each part, then N
  std::vector<std::uint64_t> table;   // Mapping::table: local index << 32 | physical file, of each rank
  struct Domain {
    std::uint32_t physical = 0;
    std::int64_t process = 0;
    std::uint64_t prefix = 0;
    std::uint64_t bytes = 0;
  };
  std::vector<Domain> domains;  // by physical file, then process
};

struct PlanInput {
  const Requests& requests;
  Options options;
  MappingFunction mapping;
  StorageInfo storage;
  int cores = 1;
};

// For a new multifile.
Result<WritePlan> plan_create(const PlanInput& input);
// For a further session of an existing one, which is open in `old` with all its parts closed and sound.
Result<WritePlan> plan_append(const PlanInput& input, ReadSet& old);

// The share of a process in a physical file; none when it writes nothing there.
std::optional<DomainShare> domain_share(const WritePlan& plan, std::uint32_t physical, std::int64_t process);
// What task `task` learns of the plan.
Bytes encode_share(const WritePlan& plan, const Requests& requests, std::size_t task);

// Bytes of a new physical file up to its first slab: header, state, sections, session page, domains.
std::vector<std::byte> encode_front(const WritePlan& plan, const PlannedPart& part);
// Session page and domain section only, as they stand at part.session_offset.
std::vector<std::byte> encode_session_front(const PlannedPart& part);

}  // namespace thalweg
