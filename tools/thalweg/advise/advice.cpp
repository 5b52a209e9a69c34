#include "advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common.hpp"

namespace tool {
namespace {

constexpr double kWorthNaming = 0.05;  // of the whole time

bool is_level(const methods::MethodInfo& method, char level) {
  return method.id.starts_with("mpiio-") && method.id.back() == level;
}

tw_sim_way way_of(const methods::MethodInfo& method) {
  if (method.id == "gather") return TW_SIM_GATHER;
  if (method.outcome == methods::Outcome::separate) return TW_SIM_FILE_PER_TASK;
  if (method.id == "tw-multifile" || method.id == "sionlib") return TW_SIM_MULTIFILE;
  return method.collective && !is_level(method, '1') ? TW_SIM_COLLECTIVE : TW_SIM_INDEPENDENT;
}

// How many ranks have their pieces in turn: those side by side in the fastest dimension that is cut.
int64_t in_turn_of(const Cell& cell) {
  for (size_t i = 0; i < cell.grid.size(); ++i) {
    const size_t d = cell.order == "f" ? i : cell.grid.size() - 1 - i;
    if (cell.grid[d] > 1) return d == (cell.order == "f" ? cell.grid.size() - 1 : 0) ? 1 : cell.grid[d];
  }
  return 1;
}

double runs_of_rank(const methods::MethodInfo& method, const Request& request, const Load& all) {
  double runs = 1;
  if (method.outcome == methods::Outcome::global_array) runs = all.runs;
  if (method.outcome != methods::Outcome::global_array && request.phase == "restart") runs = all.cuts;
  return std::max(1.0, runs / all.ranks);
}

// The share of one node.
Load load_of_node(Load load, const Request& request, const Machine& machine) {
  const double nodes = request.nodes;
  load.ranks = std::ceil(load.ranks / nodes);
  load.written = std::ceil(load.written / nodes);
  load.bytes /= nodes;
  load.runs = std::max(load.runs / nodes, load.ranks);
  load.cuts = std::max(load.cuts / nodes, load.ranks);
  load.cores = request.cores_per_node > 0 ? request.cores_per_node : machine.cores;
  if (request.cores_per_node == 0 && request.nodes > 1) load.cores = std::max(load.cores, load.ranks);
  return load;
}

class Adviser {
 public:
  Adviser(const Request& request, const Machine& machine, const Cell& cell)
      : request_(request), machine_(machine), cell_(cell), scale_(request, machine) {
    all_ = load_of(cell, request.phase, request.readers_or_default(), machine.cores);
    node_ = load_of_node(all_, request, machine);
  }

  Choice choice_of(const methods::MethodInfo& method, const Constants& constants) {
    Choice choice;
    choice.method = &method;
    const std::vector<double> terms = terms_of(method, request_.phase, node_);
    for (size_t j = 0; j < kTerms; ++j)
      add(choice, term_meaning(method, static_cast<Term>(j)), terms[j] * constants[j]);
    if (request_.nodes > 1) {
      spread_over_nodes(choice, method, terms, constants);
    } else {
      bound_by_storage(choice, method);
    }
    std::ranges::sort(choice.parts, [](const Part& a, const Part& b) { return a.seconds > b.seconds; });
    for (const Part& part : choice.parts) choice.seconds += part.seconds;
    choice.reason = reason_of(choice);
    choice.warnings = warnings_of(method, request_, cell_);
    return choice;
  }

  const ScaleFacts& facts() const { return scale_.facts(); }
  const Load& node() const { return node_; }

 private:
  static void add(Choice& choice, const std::string& what, double seconds) {
    if (seconds > 0) choice.parts.push_back({what, seconds});
  }

  // What one node does itself, and what network and storage do for all, go on at the same time: the slower counts.
  void spread_over_nodes(Choice& choice, const methods::MethodInfo& method, const std::vector<double>& terms,
                         const Constants& constants) {
    const ScaleSeconds far = scale_.seconds(way_of(method), runs_of_rank(method, request_, all_), in_turn_of(cell_));
    double own = 0;
    for (const size_t j : {kByte, kSharedByte, kFarByte, kRun}) own += terms[j] * constants[j];
    const double least = static_cast<double>(request_.bytes) / scale_.facts().storage_bandwidth;
    const double others = std::max(far.transfer, least);
    if (own < others) {
      for (const Term term : {kByte, kSharedByte, kFarByte, kRun})
        std::erase_if(choice.parts, [&](const Part& part) { return part.what == term_meaning(method, term); });
      add(choice, "network and storage", others);
    }
    add(choice, "all ranks opening and closing", far.open + far.close);
    if (is_level(method, '1') && method.outcome == methods::Outcome::global_array)
      add(choice, "a meeting of all ranks for each row",
          runs_of_rank(method, request_, all_) * 2 * std::log2(std::max(2, request_.ranks)) * latency());
  }

  double latency() const { return machine_.net_latency_seconds > 0 ? machine_.net_latency_seconds : 1.5e-6; }

  void bound_by_storage(Choice& choice, const methods::MethodInfo& method) const {
    double own = 0;
    for (const Part& part : choice.parts) own += part.seconds;
    if (request_.storage_bandwidth > 0)
      add(choice, "storage that is slower than this node",
          static_cast<double>(request_.bytes) / request_.storage_bandwidth - own);
    if (request_.storage_create_rate > 0 && method.outcome == methods::Outcome::separate)
      add(choice, "making files", request_.ranks / request_.storage_create_rate);
  }

  std::string reason_of(const Choice& choice) const {
    std::string text;
    for (const Part& part : choice.parts) {
      if (part.seconds < kWorthNaming * choice.seconds || text.size() > 120) continue;
      text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", part.what, 100 * part.seconds / choice.seconds);
    }
    return text;
  }

  const Request& request_;
  const Machine& machine_;
  const Cell& cell_;
  Scale scale_;
  Load all_, node_;
};

std::string bandwidth_text(double bytes_per_second) { return fmt::format("{:.3g} GB/s", bytes_per_second * 1e-9); }

std::vector<std::string> notes_of(const Request& request, const Machine& machine, const Adviser& adviser) {
  std::vector<std::string> notes;
  const ScaleFacts& facts = adviser.facts();
  if (!machine.measured)
    notes.push_back(
        fmt::format("not measured here: run 'thalweg tune DIR'{}; these are guesses of no machine in "
                    "particular",
                    machine.identity.empty() ? " and give --dir DIR" : " on " + machine.identity));
  if (request.nodes == 1) {
    if (adviser.node().ranks > adviser.node().cores)
      notes.push_back(fmt::format("{:.0f} ranks share {:.0f} cores", adviser.node().ranks, adviser.node().cores));
    return notes;
  }
  notes.push_back(
      fmt::format("one machine was measured ({} cores): its work is scaled to {} nodes of {:.0f} ranks and "
                  "{:.0f} cores; network and storage are simulated with {} tasks and some of their pieces, "
                  "and scaled",
                  machine.cores, request.nodes, adviser.node().ranks, adviser.node().cores, facts.simulated_tasks));
  if (!facts.bandwidth_is_told)
    notes.push_back(
        fmt::format("no --storage-bandwidth: {} is taken, one node's {} times {} nodes; no storage may be "
                    "as quick",
                    bandwidth_text(facts.storage_bandwidth), bandwidth_text(facts.storage_bandwidth / request.nodes),
                    request.nodes));
  if (!facts.create_rate_is_told)
    notes.push_back(fmt::format("no --storage-create-rate: {:.0f} files per second are taken, what one node makes",
                                facts.create_rate));
  if (machine.net_latency_seconds == 0)
    notes.push_back("messages between nodes were not measured: 1.5 us and 12.5 GB/s are taken");
  return notes;
}

}  // namespace

std::string ruled_out(const methods::MethodInfo& method, const std::string& pattern) {
  const bool tasks_own = pattern == "task-local" || pattern == "ragged";
  if (tasks_own &&
      (method.outcome == methods::Outcome::global_array || method.needs == "HDF5" || method.needs == "PnetCDF"))
    return fmt::format("{} data are no part of a global array", pattern);
  if (pattern == "rows" && method.outcome == methods::Outcome::chunks)
    return "in rows a chunk per rank is the global array already: the same file as of the methods that write that";
  if (pattern == "rows" && method.id.starts_with("hdf5-chunked"))
    return "rows are contiguous: chunks gain nothing and have an index";
  return {};
}

Advice advise(const Request& request, const Machine& machine) {
  Advice advice;
  advice.cell = cell_of(request);
  Adviser adviser(request, machine, advice.cell);
  for (const methods::MethodInfo& method : methods::method_table()) {
    const Constants* constants = machine.calibration.find(method.id, request.phase);
    const std::string why = ruled_out(method, request.pattern);
    if (!why.empty()) {
      advice.out.push_back({&method, why});
    } else if (constants == nullptr) {
      advice.out.push_back({&method, method.needs.empty()
                                         ? "was not measured here"
                                         : fmt::format("was not measured here: is {} installed?", method.needs)});
    } else {
      advice.choices.push_back(adviser.choice_of(method, *constants));
    }
  }
  if (advice.choices.empty())
    throw Failure(kInputOutput, "the profile has constants of no method that fits; run 'thalweg tune DIR' again");
  std::ranges::stable_sort(advice.choices, {}, &Choice::seconds);
  const auto whole = std::ranges::find_if(
      advice.choices, [](const Choice& choice) { return choice.method->outcome == methods::Outcome::global_array; });
  if (whole != advice.choices.end()) advice.one_array = &*whole;
  advice.notes = notes_of(request, machine, adviser);
  return advice;
}

}  // namespace tool
