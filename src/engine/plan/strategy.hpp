// Strategy: how the bytes of one open file are moved; from hints, the tuned profile, or defaults
// (docs/design/storage.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace thalweg {

//   nothing    no byte is moved
//   direct     each task transfers its own extents
//   shared     the access of all is cut into file domains, a worker for each; needs shared memory
//   aggregate  two-phase I/O: some tasks, the aggregators, have a file domain each and transfer what lies there for all
//   naive      task 0 transfers everything in rank order; never chosen, the oracle of tests
enum class Method { nothing, direct, shared, aggregate, naive };
const char* method_name(Method method);

// The costs of one file system and one way of moving bytes, in nanoseconds. The defaults are those of a page cache:
// such that nothing loses to plain pwrite (docs/design/storage.md).
struct StorageCosts {
  double call_ns = 600;         // one transfer call, whatever it moves
  double piece_ns = 40;         // each piece of memory within a call
  double read_byte_ns = 0.165;  // per byte, one worker, memory that is not in a core's cache
  double write_byte_ns = 0.14;
  double staged_read_byte_ns = 0.12;  // per byte from or to a staging buffer, which is in the cache
  double staged_write_byte_ns = 0.085;
  double common_byte_ns = 0;       // per byte of all workers together, where they have one server in common
  double copy_byte_ns = 0.09;      // between memory and staging
  double copy_piece_ns = 3;        // each piece of it
  double handover_ns = 300;        // giving a share of the work to another thread
  double exchange_byte_ns = 0.25;  // from one process to another on a node
  double exchange_piece_ns = 200;  // each piece of that
  double round_ns = 20'000;      // the collectives of one round of two-phase I/O, times the bits of the number of tasks
  double message_ns = 1000;      // receiving one: its length, the reply to that, the message itself
  double queueing_ns = 250'000;  // each worker beyond those that the storage takes at once waits for its turn
  std::size_t parallel_reads = 0;  // workers that gain from reading one file at once; 0: all
  std::size_t parallel_writes =
      1;                       // workers that gain from writing: the kernel serialises buffered writers of one file
  std::uint64_t block = 4096;  // of the file system
};

// A call that takes longer waits for its storage, and leaves its core to others.
inline constexpr double kSleepsNs = 20'000;

struct Strategy {
  bool direct_reads = false;  // past the page cache, where the file can
  bool direct_writes = false;
  bool direct_where_cheaper = false;  // ... and the access is cheaper so by the costs; else always
  bool wants_direct(bool reads) const { return reads ? direct_reads : direct_writes; }
  unsigned queue_depth = 4;                               // direct transfers in flight, per worker
  std::uint64_t transfer_bytes = std::uint64_t{1} << 22;  // of one direct transfer, when the depth is to be filled
  std::uint64_t staging_bytes = std::uint64_t{1} << 20;   // of one staging buffer; fits a core's cache
  bool sieve_writes = false;     // by hint (docs/howto/hints.md): RangeLock does not reach other handles and processes
  std::optional<Method> method;  // by hint; else the cost model decides
  std::size_t workers = 0;       // by hint; 0: the cost model decides
  std::size_t aggregators = 0;   // by hint; 0: the cost model decides
  std::uint64_t aggregator_bytes = std::uint64_t{1} << 24;  // memory of one aggregator: windows and messages together
  std::optional<bool> node_relay;                           // by hint; else what is cheaper (two_phase/node_relay.hpp)
  std::size_t cores_of_node = 0;                            // 0: not known
  bool on_one_node = false;                                 // the storage is none of a network
  std::uint64_t stripe_bytes = 0;                           // of the file; whole pages; 0: not told
  std::uint32_t stripe_count = 0;                           // targets over which its stripes go; 0: not told
  std::uint64_t striping_unit = 0;    // by hint, for a new file: bytes of a stripe; 0: the file system decides
  std::uint32_t striping_factor = 0;  // likewise: targets, or all (2^32-1)
  std::uint32_t physical_files = 1;   // of a multifile, that all writers of a node gain from
  StorageCosts costs;                 // through the page cache
  StorageCosts direct_costs;
};

}  // namespace thalweg
