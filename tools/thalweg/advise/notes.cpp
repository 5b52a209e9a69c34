// Assumptions of an advice, extrapolation, and the error of the model.
#include <fmt/format.h>

#include "advice.hpp"

namespace tool {
namespace {

using Notes = std::vector<std::string>;

constexpr double kLarge = 64 << 20;  // bytes per node, when the profile lacks the measured size

std::string size_of(double bytes) { return short_size(static_cast<int64_t>(bytes)); }

std::string error_beyond(const Calibration& made) {
  if (made.left_out_error == 0) return "more on other cells";
  return fmt::format("on cells left out of the fit {:.0f} %", 100 * made.left_out_error);
}

void note_origin(const Request& request, const Machine& machine, Notes& notes) {
  const Calibration& made = machine.calibration;
  if (!machine.measured) {
    notes.push_back(fmt::format("not measured here: run 'thalweg tune DIR'{}; the times assume a typical machine",
                                machine.identity.empty() ? " and give --dir DIR" : " on " + machine.identity));
  } else if (made.told_error() == 0) {
    notes.push_back(
        "the error of the model is unknown here: run 'thalweg tune DIR' again, or compare with 'thalweg advise --from "
        "FILE'");
  } else {
    notes.push_back(fmt::format("median error of the model: {1:.0f} % on the {0} it was fitted to, {2}{3}",
                                count_text(static_cast<int64_t>(made.cells.size()), "cell"), 100 * made.median_error,
                                error_beyond(made),
                                request.nodes > 1 ? "; the error of the simulation of more nodes is unknown" : ""));
  }
}

// Notes on extrapolation, and on a node with insufficient memory, if known.
void note_size(const Request& request, const Machine& machine, const Load& node, Notes& notes) {
  const double most = machine.calibration.most_bytes();
  const std::string cache =
      request.storage_bandwidth > 0
          ? "times are extrapolated"
          : "times are extrapolated at the speed of the page cache; give the storage's speed with --storage-bandwidth";
  const char* what = request.nodes > 1 ? "a node" : "this";
  if (most > 0 && node.bytes > most) {
    notes.push_back(
        fmt::format("at most {} were measured, but {} has {}: {}", size_of(most), what, size_of(node.bytes), cache));
  } else if (most == 0 && node.bytes > kLarge) {
    notes.push_back(fmt::format("{} has {}, more than is calibrated with: {}", what, size_of(node.bytes), cache));
  }
  const double memory = static_cast<double>(request.memory_per_node);
  if (memory > 0 && node.bytes > memory)
    notes.push_back(fmt::format("the program's data, {} per node, exceed --memory-per-node {}", size_of(node.bytes),
                                size_of(memory)));
}

void note_nodes(const Request& request, const Machine& machine, const Load& node, const ScaleFacts& facts,
                Notes& notes) {
  notes.push_back(
      fmt::format("one machine was measured ({}): its work is scaled to {} of {} and {}; network and storage are "
                  "simulated with {} and a part of their pieces, then scaled",
                  count_text(machine.cores, "core"), count_text(request.nodes_in_use(), "node"),
                  count_text(static_cast<int64_t>(node.ranks), "rank"),
                  count_text(static_cast<int64_t>(node.cores), "core"), count_text(facts.simulated_tasks, "task")));
  notes.push_back(fmt::format("assumed: {} storage servers that take {:.0f} us per operation", facts.servers,
                              facts.server_seconds * 1e6));
  if (!facts.bandwidth_is_told)
    notes.push_back(fmt::format(
        "no --storage-bandwidth: {} is assumed, one node's {} times {}; real storage may be slower",
        bandwidth_text(facts.storage_bandwidth), bandwidth_text(facts.storage_bandwidth / request.nodes_in_use()),
        count_text(request.nodes_in_use(), "node")));
  if (!facts.create_rate_is_told)
    notes.push_back(fmt::format("no --storage-create-rate: {:.0f} files per second are assumed, the rate of one node",
                                facts.create_rate));
  if (!machine.net_is_measured)
    notes.push_back(fmt::format("messages between nodes were not measured: {:.3g} us and {} are assumed",
                                machine.net_latency_seconds * 1e6, bandwidth_text(1 / machine.net_byte_seconds)));
}

}  // namespace

std::string bandwidth_text(double bytes_per_second) {
  const double gibibytes = bytes_per_second / (1 << 30);
  if (gibibytes >= 1024) return fmt::format("{:.3g} TiB/s", gibibytes / 1024);
  return fmt::format("{:.3g} GiB/s", gibibytes);
}

std::vector<std::string> notes_of(const Request& request, const Machine& machine, const Load& node,
                                  const ScaleFacts& facts) {
  Notes notes;
  note_origin(request, machine, notes);
  note_size(request, machine, node, notes);
  if (request.nodes > 1) {
    note_nodes(request, machine, node, facts, notes);
  } else if (node.ranks > node.cores) {
    notes.push_back(
        fmt::format("{:.0f} ranks share {}", node.ranks, count_text(static_cast<int64_t>(node.cores), "core")));
  }
  return notes;
}

}  // namespace tool
