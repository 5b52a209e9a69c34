// The plan of a multifile: its physical files, the logical files in each, and the slabs of each process; made by task 0
// when a multifile is created or appended to.
//
// A plan is a value. Task 0 makes the WritePlan from the WriteRequests of all tasks and sends each task its WriteShare;
// memory is O(tasks + physical files) on task 0 and O(own logical files) elsewhere. A share travels as its difference
// from what it would be if all tasks were alike: about 7 bytes.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "multifile/read/read_set.hpp"
#include "multifile/write/direct_writes.hpp"
#include "multifile/write_requests.hpp"
#include "storage/backend.hpp"

namespace thalweg {

// One physical file as one process writes it.
struct DomainShare {
  std::uint32_t physical = 0;
  std::uint32_t session = 0;
  format::SlabLayout layout;
};

// The part of the plan that all tasks need.
struct WriteCommon {
  std::uint64_t chunk_bytes = 0;  // for tasks that ask for no size
  format::FileHeader header;      // of physical file 0; those of the others differ in number, ranks and map
  bool reserves = false;          // PhysicalWriter::write_data
  DirectSettings direct;          // of the data of chunks and packs
  StripeRequest stripes;          // of physical files that are made
  std::uint64_t first_bytes = 0;  // of each task go to physical file 0 where there are later ones
  std::string strategy;
  std::uint64_t first_added = format::kFirstAdded;  // number of the first logical file that task 0 adds
  format::SessionPage session;                      // of physical file 0
  DomainShare usual;  // most domains differ from this one by their place in the round only
};
void put_common(WireWriter& out, const WriteCommon& common);
WriteCommon get_common(WireReader& in);

// The part of the plan for one task: its domains, by physical file, and the places of its ranks in its own order.
struct WriteShare {
  std::vector<DomainShare> domains;
  std::uint64_t first_added = 0;  // number of the first logical file that the task adds
  std::uint32_t home = 0;         // the physical file in which those lie; one of `domains`
  std::vector<PlacedRange> ranges;
  std::optional<DomainShare> later;  // its space in a later physical file
};

// One physical file of the plan.
struct PlannedFile {
  format::FileHeader header;
  format::SessionPage session;
  std::vector<std::uint64_t> ranks;  // Mapping::table: rank of each local index
  format::StateSlot state;           // as it will be while the session is open
};

struct WritePlan {
  WriteCommon common;
  RankMapping ranks;
  std::vector<PlannedFile> files;
  StripeLayout stripes;  // of each physical file, as far as it is known before they are made
  // Domains of equal size of the processes `process`, process + 1, ... in one physical file.
  struct DomainRow {
    std::uint32_t physical = 0;
    std::uint32_t count = 0;
    std::int64_t process = 0;
    std::uint64_t prefix = 0;  // of the first
    std::uint64_t bytes = 0;   // of each
  };
  std::vector<std::uint64_t> later_ends;  // of the later physical files by the sessions before; 0: it was never made
  std::vector<DomainRow> domains;         // by physical file, also later ones, then process
};

struct WritePlanInput {
  const WriteRequests& requests;
  MultifileOptions options;
  MappingFunction mapping;
  StorageInfo storage;
  // Tells the alignment of direct transfers of physical files; 0: the file system has no direct I/O. Takes long.
  std::function<std::uint32_t()> direct_alignment = {};
};

// For a new multifile.
Result<WritePlan> plan_create(const WritePlanInput& input);
// For a further session of an existing one, which is open in `old` with all its files closed and sound.
Result<WritePlan> plan_append(const WritePlanInput& input, ReadSet& old);

// Fills in plan.domains, and the numbers of each file's session that follow from them. In slab_plan.cpp.
Status place_domains(const WritePlanInput& input, WritePlan& plan);

// Calls fn(task, request, k) for each task, by rank: k is the later physical file that it uses, or 0. The tasks that
// serve logical files are dealt evenly to all physical files, and so are the others.
template <class F>
void for_each_later(const WritePlan& plan, const WriteRequests& requests, F&& fn) {
  const std::uint64_t n_files = plan.files[0].header.n_later + std::uint64_t{1};
  std::uint64_t serving = 0, i = 0;
  requests.for_each([&](std::size_t, const WriteRequest& request) { serving += request.ranges.empty() ? 0 : 1; });
  requests.for_each([&](std::size_t task, const WriteRequest& request) {
    const std::uint64_t k =
        request.ranges.empty() ? even_share(task, requests.tasks(), n_files) : even_share(i++, serving, n_files);
    fn(task, request, static_cast<std::uint32_t>(k));
  });
}

// The physical file that takes the logical files that a task adds: that of the first one that it serves.
std::uint32_t home_of(const WritePlan& plan, const WriteRequest& request, std::size_t task, std::size_t tasks);

// The share of a process in a physical file; none when it writes nothing there.
std::optional<DomainShare> domain_share(const WritePlan& plan, std::uint32_t physical, std::int64_t process);

// The shares of all tasks.
Gathered encode_shares(const WritePlan& plan, const WriteRequests& requests);
// The share of task `task` of `tasks`, which asked for `ranges`.
WriteShare decode_share(ByteView bytes, const WriteCommon& common, std::span<const RankRange> ranges, std::size_t task,
                        std::size_t tasks);

}  // namespace thalweg
