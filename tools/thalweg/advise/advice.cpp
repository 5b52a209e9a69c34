#include "advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ranges>

#include "common.hpp"
#include "methods/array.hpp"
#include "nnls.hpp"

namespace tool {
namespace {

constexpr double kWorthNaming = 0.05;  // share of the total time
// The error of a model on new cells exceeds its error on the cells it was fitted to.
constexpr double kLeastTie = 0.1;
constexpr double kAlike = 0.01;                                            // relative difference that is printed as
                                                                           // equal
constexpr std::array kMovingTerms = {kByte, kSharedByte, kFarByte, kRun};  // overlap with storage

bool is_level(const methods::MethodInfo& method, char level) {
  return method.id.starts_with("mpiio-") && method.id.back() == level;
}

tw_sim_way way_of(const methods::MethodInfo& method) {
  if (method.id == "gather") return TW_SIM_GATHER;
  if (method.outcome == methods::Outcome::separate) return TW_SIM_FILE_PER_TASK;
  if (method.id == "tw-multifile" || method.id == "sionlib") return TW_SIM_MULTIFILE;
  return method.collective && !is_level(method, '1') ? TW_SIM_COLLECTIVE : TW_SIM_INDEPENDENT;
}

// The division of the array among the ranks that move it.
std::vector<int> grid_of_movers(const Request& request, const Cell& cell) {
  return request.phase == "restart" ? methods::grid_for(request.movers(), cell.shape.size()) : cell.grid;
}

// Number of ranks with interleaved pieces: those side by side in the fastest dimension that is cut.
int64_t in_turn_of(const std::vector<int>& grid, const std::string& order) {
  for (size_t i = 0; i < grid.size(); ++i) {
    const size_t d = order == "f" ? i : grid.size() - 1 - i;
    if (grid[d] > 1) return d == (order == "f" ? grid.size() - 1 : 0) ? 1 : grid[d];
  }
  return 1;
}

// The load of one node.
Load load_of_node(Load load, const Request& request, const Machine& machine) {
  const double nodes = request.nodes_in_use();
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
    movers_ = grid_of_movers(request, cell);
    node_ = load_of_node(all_, request, machine);
  }

  Choice choice_of(const methods::MethodInfo& method, const Constants& constants) {
    Choice choice;
    choice.method = &method;
    const std::vector<double> terms = terms_of(method, request_.phase, node_);
    for (size_t j = 0; j < kTerms; ++j)
      add(choice, term_meaning(method, static_cast<Term>(j)), terms[j] * constants[j]);
    choice.own_seconds = sum_of_terms(terms, constants);
    double moving = 0;
    for (const Term term : kMovingTerms) moving += terms[term] * constants[term];
    if (request_.nodes > 1) {
      spread_over_nodes(choice, method, moving);
    } else {
      bound_by_storage(choice, method, moving);
    }
    std::ranges::sort(choice.parts, [](const Part& a, const Part& b) { return a.seconds > b.seconds; });
    for (const Part& part : choice.parts) choice.seconds += part.seconds;
    choice.reason = reason_of(choice);
    choice.warnings = warnings_of(method, request_, cell_);
    warn_of_size(choice);
    return choice;
  }

  const ScaleFacts& facts() const { return scale_.facts(); }
  const Load& node() const { return node_; }

 private:
  // Other methods were measured with larger arrays, so the notes do not mention the limit.
  void warn_of_size(Choice& choice) const {
    const auto found = machine_.calibration.largest_bytes.find(std::string(choice.method->id));
    if (found == machine_.calibration.largest_bytes.end()) return;
    if (found->second < node_.bytes && found->second < machine_.calibration.most_bytes())
      choice.warnings.push_back(
          {fmt::format("was measured with at most {} here, less than other methods: its time is extrapolated",
                       short_size(static_cast<int64_t>(found->second)))});
  }

  static void add(Choice& choice, const std::string& what, double seconds) {
    if (seconds > 0) choice.parts.push_back({what, seconds});
  }

  // Work of a node and work of network and storage proceed concurrently: the slower counts.
  void spread_over_nodes(Choice& choice, const methods::MethodInfo& method, double moving) {
    const double runs = runs_of_rank(method);
    const ScaleSeconds far = scale_.seconds(way_of(method), runs, in_turn_of(movers_, request_.order));
    const double least = static_cast<double>(request_.bytes) / scale_.facts().storage_bandwidth;
    if (moving < std::max(far.transfer, least)) {
      if (far.transfer > least)
        replace_moving(choice, method, cause_of(method, runs), far.transfer);
      else
        leave_to_storage(choice, method, least);
    }
    add_opening(choice, method, far.open + far.close);
    if (is_level(method, '1') && method.outcome == methods::Outcome::global_array)
      add(choice, "a barrier of all ranks for each row",
          runs * 2 * std::log2(std::max(2, request_.movers())) * machine_.net_latency_seconds);
  }

  static void replace_moving(Choice& choice, const methods::MethodInfo& method, const std::string& what,
                             double seconds) {
    for (const Term term : kMovingTerms)
      std::erase_if(choice.parts, [&](const Part& part) { return part.what == term_meaning(method, term); });
    add(choice, what, seconds);
  }

  void leave_to_storage(Choice& choice, const methods::MethodInfo& method, double seconds) const {
    replace_moving(choice, method, limit_text(), seconds);
    choice.storage_decides = true;
  }

  // The file of each writer is opened once in total; the simulation counts the files of the readers.
  void add_opening(Choice& choice, const methods::MethodInfo& method, double seconds) const {
    if (method.outcome != methods::Outcome::separate) return add(choice, "all ranks opening and closing", seconds);
    const double files = std::max(request_.ranks, request_.movers());
    add(choice, fmt::format("{} {:.0f} files", request_.phase == "write" ? "making" : "opening", files),
        seconds * files / request_.movers());
  }

  // Stretches of the file per rank.
  double runs_of_rank(const methods::MethodInfo& method) const {
    double runs = 1;
    if (method.outcome == methods::Outcome::global_array) runs = all_.runs;
    if (method.outcome != methods::Outcome::global_array && request_.phase == "restart")
      runs = chunk_runs_of(cell_, movers_);
    return std::max(1.0, runs / all_.ranks);
  }

  // The dominant cost other than the storage bandwidth.
  std::string cause_of(const methods::MethodInfo& method, double runs) const {
    const double bytes = static_cast<double>(request_.bytes) / request_.movers();
    switch (way_of(method)) {
      case TW_SIM_GATHER:
        return "one rank gathers and transfers all bytes";
      case TW_SIM_COLLECTIVE:
        return fmt::format("exchange with the aggregators of {} servers", scale_.facts().servers);
      case TW_SIM_INDEPENDENT:
        return fmt::format("{} of each rank, {} each", count_text(static_cast<int64_t>(std::ceil(runs)), "call"),
                           short_size(static_cast<int64_t>(bytes / runs)));
      default:
        return fmt::format("{} of each rank, transferred in parallel", short_size(static_cast<int64_t>(bytes)));
    }
  }

  std::string limit_text() const {
    return fmt::format("the storage, {}", bandwidth_text(scale_.facts().storage_bandwidth));
  }

  // Opening, further ranks and barriers are added: no byte moves meanwhile.
  void bound_by_storage(Choice& choice, const methods::MethodInfo& method, double moving) const {
    if (request_.storage_bandwidth > 0) {
      const double least = static_cast<double>(request_.bytes) / request_.storage_bandwidth;
      if (moving < least) leave_to_storage(choice, method, least);
    }
    if (request_.phase == "write" && request_.storage_create_rate > 0 && method.outcome == methods::Outcome::separate)
      add(choice, fmt::format("making {}", count_text(request_.ranks, "file")),
          request_.ranks / request_.storage_create_rate);
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
  std::vector<int> movers_;  // grid of the ranks that move the bytes
};

// When the storage decides, times differ only by the open, which is insignificant at such sizes: then the node's own
// time ranks the methods.
void rank(std::vector<Choice>& choices) {
  std::ranges::stable_sort(choices, {}, &Choice::seconds);
  for (auto begin = choices.begin(); begin != choices.end();) {
    const double most = begin->seconds * (1 + kAlike);
    const auto end = std::find_if(begin, choices.end(), [&](const Choice& choice) { return choice.seconds > most; });
    std::ranges::stable_sort(begin, end, {}, &Choice::own_seconds);
    begin = end;
  }
}

bool is_tie(const Choice& choice, const Advice& advice, double tie) {
  return choice.seconds <= advice.choices.front().seconds * (1 + tie);
}

// A default model of an unknown machine cannot distinguish close methods.
void find_ties(Advice& advice, const Machine& machine) {
  advice.tie = std::max(kLeastTie, machine.calibration.told_error());
  if (!machine.measured) return;
  for (const Choice& choice : advice.choices | std::views::drop(1))
    if (is_tie(choice, advice, advice.tie)) advice.ties.push_back(&choice);
}

bool storage_decides(const Advice& advice) {
  const auto alike = std::ranges::count_if(advice.choices, [&](const Choice& choice) {
    return choice.storage_decides && is_tie(choice, advice, advice.tie);
  });
  return 2 * static_cast<size_t>(alike) > advice.choices.size() && advice.choices.size() > 1;
}

}  // namespace

std::string ruled_out(const methods::MethodInfo& method, const std::string& pattern) {
  const bool tasks_own = pattern == "task-local" || pattern == "ragged";
  if (tasks_own && method.id == "tw-vpfile")
    return "was measured with blocks of an array only, although it supports streams of any length";
  if (tasks_own &&
      (method.outcome == methods::Outcome::global_array || method.needs == "HDF5" || method.needs == "PnetCDF"))
    return fmt::format("{} data do not form a global array", pattern);
  if (pattern == "rows" && method.outcome == methods::Outcome::chunks)
    return "with rows the chunks of the ranks form the global array: the file equals that of the global methods";
  if (pattern == "rows" && method.id.starts_with("hdf5-chunked"))
    return "rows are contiguous: chunks have no benefit and add an index";
  return {};
}

Advice advise(const Request& request, const Machine& machine) {
  Advice advice;
  advice.cell = cell_of(request);
  Adviser adviser(request, machine, advice.cell);
  for (const methods::MethodInfo& method : methods::method_table()) {
    const Constants* constants = machine.calibration.find(method.id, request.phase);
    std::string why = ruled_out(method, request.pattern);
    if (why.empty()) why = impossible(method, request, advice.cell);
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
    throw Failure(kInputOutput, "the profile has no constants of a suitable method; run 'thalweg tune DIR' again");
  rank(advice.choices);
  const auto whole = std::ranges::find_if(
      advice.choices, [](const Choice& choice) { return choice.method->outcome == methods::Outcome::global_array; });
  if (whole != advice.choices.end()) advice.one_array = &*whole;
  find_ties(advice, machine);
  advice.notes = notes_of(request, machine, adviser.node(), adviser.facts());
  if (storage_decides(advice)) advice.notes.push_back("the storage limits all methods, which hardly differ");
  return advice;
}

}  // namespace tool
