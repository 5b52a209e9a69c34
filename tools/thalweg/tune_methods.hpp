// What `thalweg tune` measures with ranks: messages, the meetings and the exchange of two-phase I/O, and the methods of
// `thalweg methods` in some cells, from which the model's constants come. docs/design/storage.md.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "advise/model.hpp"
#include "methods/launch.hpp"

namespace tool {

struct MethodsTuning {
  std::string folder;
  std::string program, mpiexec;  // "": found
  int cores = 1;
  double seconds = 60;  // that it may take
  bool quick = false;
  Json entry;  // of the profile, as far as it was measured
};

struct MethodsTuned {
  Json network = Json::array();  // what the program told, one for each number of ranks
  Json costs = Json::object();   // members of StorageCosts
  Calibration calibration;
  bool cut_off = false;              // cells that were planned were not reached
  std::set<std::string> failed;      // methods
  std::vector<std::string> remarks;  // what could not be measured, and why
};

// Throws Interrupted. What cannot be measured is told in the remarks.
MethodsTuned tune_methods(const MethodsTuning& how);

// Puts what the calibration of the entry before has, and this one could not reach, into the entry: all of it where this
// one was cut off and has fewer cells, and methods that failed now. As remarks. `found` loses what is not used.
std::vector<std::string> keep_methods(const Json* before, Json& entry, MethodsTuned& found);

// Of three accesses of the same file by two ranks through aggregators: hardly a byte; 4 MiB in long pieces, and in
// short ones. Seconds of the transfer alone.
struct ExchangeTimes {
  double nothing = 0, bytes = 0, pieces = 0;
  double n_bytes = 0, n_long = 0, n_short = 0;  // bytes and pieces of both ranks
};
// Nanoseconds: exchange_byte_ns, exchange_piece_ns, as src/engine/plan/cost_model.cpp means them. What opening the
// aggregators' windows takes is in all three, and so in none of these. `costs`: of the page cache. Pure.
Json exchange_costs(const ExchangeTimes& times, const Json& costs, int cores);

// How many ranks cells are measured with, the most telling first: two, one, and more than there are cores, but
// at most 16. Each once. Pure.
std::vector<int> calibrated_ranks(int cores);

// The network's records as costs: message_ns, round_ns. Pure.
Json message_costs(const Json& network);

}  // namespace tool
