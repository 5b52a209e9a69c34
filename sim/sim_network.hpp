// SimNetwork: the costs of the collectives of simulated tasks, by the algorithms that groups of processes use.
//
// It carries no bytes: it counts messages and moves clocks. The collectives are those of an MPI group
// (mpi_collectives.cpp, mpi_fold.cpp, mpi_exchange.cpp) on top of the algorithms of MPICH for short messages; threads
// of a process meet before and after, as in a hybrid group, and one of them sends for all.
//
//   barrier    dissemination: in round k a process sends to the one 2^k further on
//   broadcast  binomial tree: a packet; longer data once all have confirmed that they have memory (allreduce)
//   gather     binomial tree of packets, a broadcast that says "go on"; longer parts straight to the root
//   scatter    binomial tree of packets; longer parts straight from the root, after an allreduce
//   allgather  gather and broadcast
//   allreduce  recursive doubling; from 2 KiB on reduce-scatter and allgather by halves (Rabenseifner)
//   fold       binomial tree up, and down with twice the bytes
//   exchange   length to each partner, which answers; a barrier; an allreduce; the data. Among up to 16 processes a packet
//              to each other, with short data; for longer data an allreduce, and the data
//   duplicate  an allreduce of 256 bytes; a channel costs nothing
#pragma once

#include <cstdint>
#include <vector>

#include "sim/sim_group.hpp"
#include "sim/sim_ledger.hpp"

namespace thalweg {

struct SimMessage {
  TaskRank from, to;
  std::uint64_t bytes;
};

class SimNetwork {
 public:
  SimNetwork(const SimOptions& options, const SimCosts& costs, SimLedger& ledger);

  // Collectives of all tasks. Sizes are by rank.
  void barrier();
  void broadcast(TaskRank root, std::uint64_t bytes);
  void gather(TaskRank root, const std::vector<std::uint64_t>& bytes);
  void scatter(TaskRank root, const std::vector<std::uint64_t>& bytes);
  void allgather(const std::vector<std::uint64_t>& bytes);
  void allreduce(std::uint64_t bytes);
  void fold(std::uint64_t bytes);
  void exchange(const std::vector<SimMessage>& messages);
  void share();
  void duplicate();
  // Messages that are all posted at once, each by its sender and receiver, with no collective around them.
  void pass(std::vector<SimMessage> messages);

 private:
  class Collective;
  struct Process {
    double clock = 0;
    double arrival = 0;  // of the awaited message
  };
  struct Wire {
    double latency, byte;
  };
  // Sums of the tasks' bytes by process.
  std::vector<std::uint64_t> by_process(const std::vector<std::uint64_t>& bytes) const;

  std::int64_t size() const { return static_cast<std::int64_t>(processes_.size()); }
  std::int64_t process_of(TaskRank rank) const { return rank / tasks_per_process_; }
  std::int64_t node_of(std::int64_t process) const { return process / processes_per_node_; }
  SimTask& leader(std::int64_t process);
  Wire wire(std::int64_t a, std::int64_t b) const;
  // Sends a message now; returns its arrival time.
  double send(std::int64_t from, std::int64_t to, std::uint64_t bytes);
  void take(std::int64_t process, double arrival);
  void holds(std::int64_t process, std::uint64_t bytes);

  // Building blocks of collectives. In a tree rooted at `root`, place v is process (v + root) mod size.
  template <class BytesOf>
  void up(std::int64_t root, BytesOf&& bytes_of);
  template <class BytesOf>
  void down(std::int64_t root, BytesOf&& bytes_of);
  void disseminate();
  void swap_in_pairs(std::int64_t distance, std::int64_t extra, std::uint64_t bytes);
  void reduce_to_all(std::uint64_t bytes);
  void to_all(std::int64_t root, std::uint64_t bytes);
  void to_root(std::int64_t root, const std::vector<std::uint64_t>& bytes);
  void deliver(std::vector<SimMessage> messages);
  void exchange_among_few(std::vector<SimMessage> between);

  const std::int64_t tasks_per_process_;
  const std::int64_t processes_per_node_;
  const SimCosts costs_;
  SimLedger& ledger_;
  std::vector<Process> processes_;
  std::vector<double> next_;  // clocks after a round in which all processes send at once
};

}  // namespace thalweg
