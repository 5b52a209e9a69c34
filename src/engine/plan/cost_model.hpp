// Which plan is cheapest: a handful of constants, measured on the storage by `thalweg tune` or by default such that
// nothing loses to plain pwrite, and the decision as data with its reason.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "engine/plan/contiguity.hpp"
#include "engine/plan/plan.hpp"

namespace thalweg {

// Of one file system and one strategy of moving bytes. Times in nanoseconds. The defaults are those of a page cache:
// such that nothing loses to plain pwrite (docs/design/storage.md).
struct StorageCosts {
  double call_ns = 600;         // one transfer call, whatever it moves
  double piece_ns = 40;         // each piece of memory within a call
  double read_byte_ns = 0.165;  // per byte, one worker, memory that is not in a core's cache
  double write_byte_ns = 0.14;
  double staged_read_byte_ns = 0.12;  // the same from or to a staging buffer, which is
  double staged_write_byte_ns = 0.085;
  double common_byte_ns = 0;        // per byte of all workers together: what they have is one server's
  double copy_byte_ns = 0.09;       // between memory and staging
  double copy_piece_ns = 3;         // each piece of it
  double handover_ns = 300;         // giving a share of the work to another thread
  double exchange_byte_ns = 0.25;   // from one process to another on a node
  double exchange_piece_ns = 200;   // each piece that is
  double round_ns = 20'000;         // the meetings of one round of two-phase I/O, times the bits of their number
  double message_ns = 1000;         // of who gets it: its length, the answer to that, itself
  double queueing_ns = 250'000;     // each worker beyond those that the storage takes at once: it waits for its turn
  std::size_t parallel_reads = 0;   // workers that gain from reading one file at once; 0: all
  std::size_t parallel_writes = 1;  // the same for writing: the kernel serialises buffered writers of one file
  std::uint64_t block = 4096;       // of the file system
};

// A call that takes longer waits for its storage, and leaves its core to others.
inline constexpr double kSleepsNs = 20'000;

struct PlanInput {
  Pattern pattern;
  Direction direction = Direction::write;
  std::size_t tasks = 1;       // all of the group
  bool shared_memory = false;  // all tasks in one process: anyone can reach anyone's memory
  std::size_t nodes = 1;       // they are on
  bool common = false;         // one of them moves it for all
  bool may_sieve_writes = true;
  bool past_cache = false;                               // aggregators sieve through the page cache only
  std::uint64_t staging_bytes = std::uint64_t{1} << 20;  // of one worker
  std::optional<Method> method;                          // by hint; else the cheapest. shared and naive: shared memory
  std::size_t cores = 0;                                 // that the tasks share; 0: not known, one each
  std::size_t workers = 0;                               // by hint, at most `tasks`; 0: as many as are cheapest
  std::size_t most_aggregators = 0;                      // 0: nothing is aggregated
  std::size_t aggregators = 0;                          // by hint, at most most_aggregators; 0: as many as are cheapest
  std::uint64_t window_bytes = std::uint64_t{1} << 22;  // of one aggregator and round
};

// Total and deterministic: every task of a group computes the same plan from the same facts.
Plan choose_plan(const PlanInput& input, const StorageCosts& costs);

// Processes of several nodes that send to the aggregator to which most send.
struct RelayCase {
  std::uint64_t nodes = 1;
  std::uint64_t processes = 1;                      // of all nodes
  std::uint64_t senders = 1;                        // of these processes
  std::uint64_t message_bytes = 0, most_bytes = 0;  // of a message, and of one that may be forwarded
};
// Whether it is cheaper to put the messages of a node together, in one more exchange of each round.
bool pays_to_relay(const RelayCase& input, const StorageCosts& costs);

}  // namespace thalweg
