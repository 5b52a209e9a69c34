// Time of network and storage of many nodes, by the scale simulation (sim/predict.h): simulates fewer tasks, pieces and
// bytes, and scales the result.
#pragma once

#include <map>
#include <string>
#include <tuple>

#include "request.hpp"
#include "sim/predict.h"

namespace tool {

struct ScaleSeconds {
  double open = 0, transfer = 0, close = 0;
};

// Assumptions for unknown values, for display.
struct ScaleFacts {
  double storage_bandwidth = 0;    // bytes per second of all nodes together
  bool bandwidth_is_told = false;  // otherwise that of one node, times the nodes
  double create_rate = 0;
  bool create_rate_is_told = false;
  int64_t simulated_tasks = 0;
  int64_t servers = 0;        // of the storage; assumed
  double server_seconds = 0;  // of one server, per operation
};

class Scale {
 public:
  Scale(const Request& request, const Machine& machine);

  const ScaleFacts& facts() const { return facts_; }
  // `runs` of the file per rank. Results are cached.
  ScaleSeconds seconds(tw_sim_way way, double runs_of_rank, int64_t in_turn);

 private:
  ScaleSeconds simulated(tw_sim_way way, double runs_of_rank, int64_t in_turn);
  ScaleSeconds run(tw_sim_access access, double shrunk) const;

  const Request& request_;
  tw_sim_machine costs_ = {};
  ScaleFacts facts_;
  std::map<std::tuple<tw_sim_way, int64_t, int64_t>, ScaleSeconds> known_;
};

}  // namespace tool
