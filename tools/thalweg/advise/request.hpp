// The request to `thalweg advise`, and the machine for which it is answered.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model.hpp"

namespace tool {

struct Request {
  int ranks = 1, nodes = 1;
  int readers = 0;  // of a restart; 0: half of the ranks
  int64_t bytes = 0;
  std::string pattern = "block2d";  // block2d, block3d, rows, task-local, ragged
  std::vector<int> grid;            // empty: as even as possible
  std::string order = "c", phase = "write";
  double every_seconds = 0, compute_seconds_per_step = 0;  // 0: unknown
  std::string language = "c", mpi;
  int64_t memory_per_node = 0;     // 0: unknown
  double storage_bandwidth = 0;    // bytes per second in total; 0: unknown
  double storage_create_rate = 0;  // files per second
  int cores_per_node = 0;          // 0: unknown

  int readers_or_default() const { return readers > 0 ? readers : ranks > 1 ? ranks / 2 : 1; }
  int movers() const { return phase == "restart" ? readers_or_default() : ranks; }  // ranks that move the bytes
  int nodes_in_use() const { return nodes < movers() ? nodes : movers(); }
  bool is_array() const { return pattern == "block2d" || pattern == "block3d" || pattern == "rows"; }
};

// The array of a request: as square as possible, of 4-byte elements. For task-local data, a row per task. Throws
// Failure (usage): the product of the grid differs from the ranks, or fewer bytes than ranks.
Cell cell_of(const Request& request);

// Measurements of a machine and its storage: the entry of a profile.
struct Machine {
  bool measured = false;  // false: defaults
  std::string identity;   // of the file system; "": unknown
  int cores = 1;          // of the measured machine
  Calibration calibration;
  Primitives known;
  double create_seconds = 0;   // of one file
  double message_seconds = 0;  // latency within a node
  double node_byte_seconds = 0;
  bool net_is_measured = false;  // between nodes; otherwise a typical cluster, as in the simulation (12.5 GB/s)
  double net_latency_seconds = 1.5e-6, net_byte_seconds = 0.08e-9;
};
// `entry`: null without a profile.
Machine machine_of(const std::string& identity, const Json* entry, int cores);

}  // namespace tool
