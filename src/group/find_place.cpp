#include "group/find_place.hpp"

#include <cstring>
#include <map>
#include <new>
#include <vector>

#include "base/wire.hpp"
#include "group/memory.hpp"

namespace thalweg {

namespace {

// The numbers of a place in the order in which they are sent, in four bytes each: parts of up to 48 bytes travel
// fastest, and 2^32 tasks exceed any memory.
constexpr std::int64_t Place::*kNumbers[] = {&Place::process,    &Place::processes,      &Place::node,
                                             &Place::nodes,      &Place::process_leader, &Place::tasks_in_process,
                                             &Place::node_leader};

// Ids are numbered in the order of their first occurrence; a negative id gets a number of its own.
std::int64_t number_of(std::int64_t id, std::map<std::int64_t, std::int64_t>& known, std::int64_t& count) {
  if (id < 0) return count++;
  const auto [at, is_new] = known.try_emplace(id, count);
  if (is_new) ++count;
  return at->second;
}

// The place of each task from (process_id, node_id) of all; task 0 scatters it. Empty when out of memory. A process
// is on the node of its first task.
Gathered places_of(const Gathered& ids) try {
  std::map<std::int64_t, std::int64_t> known_processes, known_nodes;
  std::int64_t n_nodes = 0, n_processes = 0;
  std::vector<std::size_t> process_of;  // each task
  std::vector<Place> places;            // by process
  std::vector<TaskRank> node_leaders;
  for (std::size_t r = 0; r < ids.parts(); ++r) {
    const std::vector<std::int64_t> id = numbers_of(ids.part(r));
    const auto rank = static_cast<TaskRank>(r);
    process_of.push_back(static_cast<std::size_t>(number_of(id[0], known_processes, n_processes)));
    if (process_of[r] == places.size()) {
      const auto node = static_cast<std::size_t>(number_of(id[1], known_nodes, n_nodes));
      if (node == node_leaders.size()) node_leaders.push_back(rank);
      places.push_back({.process = n_processes - 1,
                        .node = static_cast<std::int64_t>(node),
                        .process_leader = rank,
                        .tasks_in_process = 0,
                        .node_leader = node_leaders[node]});
    }
    ++places[process_of[r]].tasks_in_process;
  }
  Gathered packed;
  for (const std::size_t process : process_of) {
    Place& place = places[process];
    place.processes = n_processes;
    place.nodes = n_nodes;
    packed.begin.push_back(packed.data.size());
    for (const auto number : kNumbers) put_value(packed.data, static_cast<std::uint32_t>(place.*number));
  }
  packed.begin.push_back(packed.data.size());
  return packed;
} catch (const std::bad_alloc&) {
  return {};
}

Place place_from(ByteView packed) {
  Place place;
  for (const auto number : kNumbers) place.*number = take_value<std::uint32_t>(packed);
  return place;
}

}  // namespace

Op<Result<Place>> find_place(Group& group, std::int64_t process_id, std::int64_t node_id) {
  const std::vector<std::int64_t> ids{process_id, node_id};
  TW_CO_ASSIGN_OR_RETURN(const auto mine,
                         co_await sorted_by_task_0(group, view_of(ids), places_of, "search for places"));
  co_return place_from(mine);
}

}  // namespace thalweg
