// Measurements of `thalweg tune` with ranks: messages, the barriers and exchanges of two-phase I/O, and the methods of
// `thalweg methods` in some cells, to which the model is fitted. docs/design/storage.md.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "advise/model.hpp"
#include "methods/launch.hpp"

namespace tool {

struct MethodsTuning {
  std::string folder;
  std::string program, mpiexec;  // "": searched
  int cores = 1;
  double seconds = 60;  // time limit
  bool quick = false;
  Json entry;  // of the profile, as measured so far
};

struct MethodsTuned {
  Json network = Json::array();  // as reported by the program, one per number of ranks
  Json costs = Json::object();   // members of StorageCosts
  Calibration calibration;
  bool cut_off = false;              // planned cells were not reached
  std::set<std::string> failed;      // methods
  std::vector<std::string> remarks;  // failed measurements, with reasons
};

// Throws Interrupted. Failed measurements are in the remarks.
MethodsTuned tune_methods(const MethodsTuning& how);

// Keeps earlier results that this calibration could not reach: the whole calibration when this one was cut off and has
// fewer cells, and methods that failed now. Returns remarks. Removes unused results from `found`.
std::vector<std::string> keep_methods(const Json* before, Json& entry, MethodsTuned& found);

// Three accesses of one file by two ranks through aggregators: almost no bytes; 4 MiB in long pieces; 4 MiB in short
// ones. Seconds of the transfer alone.
struct ExchangeTimes {
  double nothing = 0, bytes = 0, pieces = 0;
  double n_bytes = 0, n_long = 0, n_short = 0;  // bytes and pieces of both ranks
};
// Nanoseconds: exchange_byte_ns, exchange_piece_ns, as in src/engine/plan/plan.cpp. The cost of opening the
// aggregators' windows is part of all three times and cancels out. `costs`: of the page cache. Pure.
Json exchange_costs(const ExchangeTimes& times, const Json& costs, int cores);

// Numbers of ranks of the cells, the most informative first: two, one, and more than cores, but at most 16. Each once.
// Pure.
std::vector<int> calibrated_ranks(int cores);

// Converts the network's records to costs: message_ns, round_ns. Pure.
Json message_costs(const Json& network);

}  // namespace tool
