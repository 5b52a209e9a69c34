#include "group/find_place.hpp"

#include <cstring>
#include <map>
#include <new>
#include <vector>

#include "base/wire.hpp"
#include "group/memory.hpp"

namespace thalweg {

namespace {

// Numbers ids in the order of their first occurrence.
class Numbering {
 public:
  // A negative id gets a number of its own.
  std::int64_t number_of(std::int64_t id) {
    if (id < 0) return next_++;
    const auto [at, is_new] = known_.try_emplace(id, next_);
    if (is_new) ++next_;
    return at->second;
  }
  std::int64_t count() const { return next_; }

 private:
  std::map<std::int64_t, std::int64_t> known_;
  std::int64_t next_ = 0;
};

// Four bytes for each number: parts of up to 48 bytes travel fastest, and 2^32 tasks exceed any memory.
void put_short(Bytes& to, std::int64_t number) { put_value(to, static_cast<std::uint32_t>(number)); }
std::int64_t take_short(ByteView& from) { return take_value<std::uint32_t>(from); }

// The place of each task from (process_id, node_id) of all; task 0 scatters it. Empty when out of memory. A process
// is on the node of its first task.
Gathered places_of(const Gathered& ids) try {
  Numbering processes;
  Numbering nodes;
  std::vector<Place> places;
  std::vector<Place> by_process;
  std::vector<TaskRank> node_leaders;
  for (std::size_t r = 0; r < ids.parts(); ++r) {
    const std::vector<std::int64_t> id = numbers_of(ids.part(r));
    const auto process = static_cast<std::size_t>(processes.number_of(id[0]));
    if (process == by_process.size()) {
      const std::int64_t node = nodes.number_of(id[1]);
      if (node == static_cast<std::int64_t>(node_leaders.size())) node_leaders.push_back(static_cast<TaskRank>(r));
      by_process.push_back({.process = static_cast<std::int64_t>(process),
                            .node = node,
                            .process_leader = static_cast<TaskRank>(r),
                            .tasks_in_process = 0,
                            .node_leader = node_leaders[static_cast<std::size_t>(node)]});
    }
    ++by_process[process].tasks_in_process;
    places.push_back(by_process[process]);
  }
  Gathered packed;
  for (const Place& place : places) {
    packed.begin.push_back(packed.data.size());
    const Place& shared = by_process[static_cast<std::size_t>(place.process)];
    for (const std::int64_t number : {shared.process, processes.count(), shared.node, nodes.count(),
                                      shared.process_leader, shared.tasks_in_process, shared.node_leader}) {
      put_short(packed.data, number);
    }
  }
  packed.begin.push_back(packed.data.size());
  return packed;
} catch (const std::bad_alloc&) {
  return {};
}

Place place_from(ByteView packed) {
  Place place;
  place.process = take_short(packed);
  place.processes = take_short(packed);
  place.node = take_short(packed);
  place.nodes = take_short(packed);
  place.process_leader = take_short(packed);
  place.tasks_in_process = take_short(packed);
  place.node_leader = take_short(packed);
  return place;
}

}  // namespace

Op<Result<Place>> find_place(Group& group, std::int64_t process_id, std::int64_t node_id) {
  std::vector<std::int64_t> ids(2);
  ids[0] = process_id;
  ids[1] = node_id;
  const auto all = co_await group.gather(view_of(ids), 0);
  if (!all.has_value()) co_return all.error();
  Gathered places;
  if (group.rank() == 0) places = places_of(all.value());
  const auto mine = co_await group.scatter(places, 0);
  if (!mine.has_value()) co_return none_for_lack_of_memory(mine.error(), "search for places");
  co_return place_from(mine.value());
}

}  // namespace thalweg
