// What network and storage of many nodes take, by the scale simulation (sim/predict.h): fewer tasks, pieces and bytes
// are simulated than there are, and the result is scaled.
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

// What was assumed where nothing was told, in words.
struct ScaleFacts {
  double storage_bandwidth = 0;    // bytes per second of all nodes together
  bool bandwidth_is_told = false;  // else that of one node, times the nodes
  double create_rate = 0;
  bool create_rate_is_told = false;
  int64_t simulated_tasks = 0;
  int64_t servers = 0;        // of the storage; nobody told of them
  double server_seconds = 0;  // of one, for each operation
};

class Scale {
 public:
  Scale(const Request& request, const Machine& machine);

  const ScaleFacts& facts() const { return facts_; }
  // `runs` of the file that each rank has. The same question is answered once.
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
