// thalweg-bench-scale: cost of collectives from one task to a million, in messages, memory and predicted time. The real
// engine runs on simulated tasks; network and storage are models with virtual clocks (docs/design/simulation.md).
#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <bit>
#include <CLI/CLI.hpp>
#include <cmath>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "engine/plan/aggregators.hpp"
#include "scale/machine.hpp"
#include "scale/two_phase_models.hpp"
#include "support/clock.hpp"
#include "support/comparison.hpp"
#include "support/effort.hpp"
#include "support/report.hpp"
#include "support/scratch.hpp"

namespace bench {
namespace {

struct Options {
  bool quick = false, tiny = false;
  std::string json;
  std::string node_relay = "auto";
  std::string dir;  // required of every benchmark; unused
  std::int64_t least = 1, most = 0;
  std::int64_t simulated_nodes = 1024;
  std::int64_t nodes = 0;  // largest number in the comparison of two-phase writes; 0: the curves
  Effort effort() const { return effort_of(tiny, quick); }
  std::int64_t most_tasks() const { return most > 0 ? most : pick<std::int64_t>(effort(), 1 << 8, 1 << 14, 1 << 20); }
};

constexpr double kMebi = 1 << 20;
constexpr std::int64_t kAggregators = 16;
constexpr std::uint64_t kAggregatorBytes = std::uint64_t{64} << 20;

using Curve = std::vector<Cost>;  // by number of tasks: 1, 4, 16, ...
using Curves = std::map<std::string, Curve>;

// Memory of this machine per simulated task, and free memory.
constexpr double kBytesPerTask = 19 * 1024;
double free_memory() {
  std::ifstream file("/proc/meminfo");
  std::string key;
  for (double kibi = 0; file >> key; file.ignore(64, '\n'))
    if (key == "MemAvailable:" && file >> kibi) return kibi * 1024;
  return 0;
}

Curves measure(std::int64_t least, std::int64_t most, const std::string& node_relay) {
  Curves curves;
  for (std::int64_t tasks = least; tasks <= most; tasks *= 4) {
    malloc_trim(0);  // memory of the previous ones
    if (static_cast<double>(tasks) * kBytesPerTask > free_memory()) {
      fmt::print("  {} tasks do not fit into the free memory\n", tasks);
      break;
    }
    const SharedFileCosts shared = shared_file(tasks, node_relay);
    curves["open"].push_back(shared.open);
    curves["write"].push_back(shared.write);
    curves["read"].push_back(shared.read);
    curves["multifile"].push_back(create_multifile(tasks, 1));
    curves["multifile, threads"].push_back(create_multifile(tasks, kTasksPerNode));
    curves["file-per-task"].push_back(file_per_task(tasks));
    curves["gather"].push_back(gather_and_write(tasks));
    fmt::print("  simulated {} tasks\n", tasks);
    std::fflush(stdout);
  }
  return curves;
}

std::string bytes_text(double bytes) {
  if (bytes < 1024) return fmt::format("{:.0f} B", bytes);
  if (bytes < kMebi) return fmt::format("{:.1f} KiB", bytes / 1024);
  return fmt::format("{:.1f} MiB", bytes / kMebi);
}

void report_curves(Report& report, const Curves& curves) {
  for (const auto& [name, curve] : curves) {
    fmt::print("\n== {}\n  {:>8} {:>12} {:>22} {:>12} {:>12} {:>14}\n", name, "tasks", "predicted",
               "messages mean .. most", "sent, most", "got, most", "memory, mean");
    for (const Cost& cost : curve) {
      const std::string line =
          fmt::format("  {:>8} {:>12} {:>12.1f} .. {:>6.0f} {:>12} {:>12} {:>14}", cost.tasks, time_text(cost.seconds),
                      cost.messages_mean, cost.messages_most, bytes_text(cost.bytes_most),
                      bytes_text(cost.received_most), bytes_text(cost.heap_mean));
      report.add_fact(fmt::format("{} {}", name, cost.tasks), to_json(cost), line);
    }
  }
}

// The first number of tasks from which one curve stays below the other; 0: none.
std::int64_t crossover(const Curve& below, const Curve& above) {
  std::int64_t from = 0;
  for (std::size_t i = 0; i < below.size(); ++i) {
    if (below[i].seconds >= above[i].seconds) {
      from = 0;
    } else if (from == 0) {
      from = below[i].tasks;
    }
  }
  return from;
}

Curve sum_of(const Curve& a, const Curve& b) {
  Curve sum = a;
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i].seconds += b[i].seconds;
  return sum;
}

void report_crossovers(Report& report, const Curves& curves) {
  fmt::print("\n== from which number of tasks on it is quicker\n");
  const Curve shared = sum_of(curves.at("open"), curves.at("write"));
  const auto say = [&](const std::string& name, const Curve& below, const Curve& above) {
    const std::int64_t from = crossover(below, above);
    report.add_fact("crossover: " + name, from,
                    fmt::format("  {:<60} {}", name, from == 0 ? "never" : std::to_string(from)));
  };
  say("two-phase (open and write) than file-per-task", shared, curves.at("file-per-task"));
  say("two-phase (open and write) than gather", shared, curves.at("gather"));
  say("two-phase, once it is open, than file-per-task", curves.at("write"), curves.at("file-per-task"));
  say("two-phase, once it is open, than gather", curves.at("write"), curves.at("gather"));
  say("multifile create than file-per-task", curves.at("multifile"), curves.at("file-per-task"));
  say("multifile create by threads than file-per-task", curves.at("multifile, threads"), curves.at("file-per-task"));
}

double log2_of(std::int64_t tasks) {
  return std::max(1.0, static_cast<double>(std::bit_width(static_cast<std::uint64_t>(tasks - 1))));
}

// Memory of the busiest kind of task: its share of the heap, its largest reception, two windows of an aggregator.
double memory_of(const std::string& name, const Cost& cost) {
  const bool aggregates = name == "write" || name == "read";
  const thalweg::AggregatorBudget budget(kAggregatorBytes);
  return cost.heap_mean + cost.received_most + (aggregates ? 2 * static_cast<double>(budget.window) : 0);
}

void add_targets(Report& report, const Curves& curves) {
  for (const std::string name : {"open", "write", "read", "multifile"}) {
    const Cost& last = curves.at(name).back();
    const auto target = [&](const std::string& what, double measured, double most, const char* unit) {
      report.add_target(
          {fmt::format("{}, {} tasks: {}", name, last.tasks, what), spread_of({measured}), most, false, unit});
    };
    const double each = last.messages_mean / last.collectives;
    target("messages of a task in a collective, by log2 p", each / log2_of(last.tasks), 3, "");
    target("memory of a task, at most", memory_of(name, last) / kMebi, 64, "MiB");
  }
}

void draw_curves(Report& report, const Options& options) {
  fmt::print("{} pieces of {} bytes for each task, {} tasks to a node, {} aggregators\n", kPieces, kPieceBytes,
             kTasksPerNode, kAggregators);
  const Curves curves = measure(options.least, options.most_tasks(), options.node_relay);
  if (curves.empty()) give_up("nothing was simulated");
  report_curves(report, curves);
  report_crossovers(report, curves);
  add_targets(report, curves);
  fmt::print("\n");
  report.print_targets();
}

void report_two_phase(Report& report, const std::string& pattern, const std::string& way, const ManyNodes& what,
                      const CountedCost& cost) {
  const std::string time = cost.seconds > 0 ? time_text(cost.seconds) : "";
  const std::string line =
      fmt::format("  {:<22} {:>6} x {} {:<28} {:>14.0f} {:>12.1f} {:>10.0f} {:>10}", pattern, what.nodes, kTasksPerNode,
                  way, cost.messages, cost.messages / static_cast<double>(what.tasks()), cost.messages_most, time);
  report.add_fact(fmt::format("two-phase: {}, {} nodes, {}", pattern, what.nodes, way), to_json(cost), line);
}

// The formula must give the messages that were simulated.
void check_formula(const ManyNodes& what, const CountedCost& simulated) {
  const double expected = messages_of_library(what);
  if (std::abs(expected - simulated.messages) > 0.5)
    give_up(fmt::format("{} nodes: {:.0f} messages were simulated, and {:.0f} expected", what.nodes, simulated.messages,
                        expected));
}

void compare_two_phase(Report& report, const Options& options) {
  fmt::print("one collective write by two-phase I/O\n  {:<22} {:>6}   {} {:<28} {:>14} {:>12} {:>10} {:>10}\n",
             "pattern", "nodes", "ranks", "way", "messages", "of a rank", "busiest", "time");
  const std::pair<const char*, thalweg::SimulatedPieces> patterns[] = {{"4 pieces of 1 KiB", {kPieces, kPieceBytes, 0}},
                                                                       {"a block of 64 KiB", {1, 1 << 16, 0}}};
  for (const auto& [name, pieces] : patterns) {
    for (const std::int64_t nodes : {16, 128, 1024, 16384}) {
      if (nodes > options.nodes) break;
      const ManyNodes what{nodes, pieces};
      report_two_phase(report, name, "each rank, by literature", what, two_phase_model(what, TwoPhaseWay::by_rank));
      report_two_phase(report, name, "each node, by literature", what, two_phase_model(what, TwoPhaseWay::by_node));
      if (static_cast<double>(what.tasks()) * kBytesPerTask > free_memory() || nodes > options.simulated_nodes) {
        CountedCost counted;
        counted.messages = messages_of_library(what);
        report_two_phase(report, name, "ours, no relays (formula)", what, counted);
        continue;
      }
      const CountedCost direct = two_phase_of_library(what, "off");
      check_formula(what, direct);
      report_two_phase(report, name, "ours, no relays", what, direct);
      report_two_phase(report, name, "ours, relays", what, two_phase_of_library(what, "on"));
      report_two_phase(report, name, "ours", what, two_phase_of_library(what, "auto"));
    }
  }
}

void run(const Options& options) {
  Report report("scale");
  const double started = now();
  if (options.nodes > 0) {
    compare_two_phase(report, options);
  } else {
    draw_curves(report, options);
  }
  if (!options.json.empty())
    report.write_json(
        options.json,
        {{"effort", name_of(options.effort())}, {"file_systems", {"simulated"}}, {"seconds", now() - started}});
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  bench::Options options;
  CLI::App app("Simulates the cost of collectives from one task to a million.", "thalweg-bench-scale");
  app.add_flag("--quick", options.quick, "up to 16384 tasks: half a minute");
  app.add_flag("--tiny", options.tiny, "smoke test: up to 256 tasks");
  app.add_option("--from", options.least, "smallest number of tasks; default: 1")->check(CLI::PositiveNumber);
  app.add_option("--tasks", options.most, "largest number of tasks; default: 1048576");
  app.add_option(
         "--nodes", options.nodes,
         "compare two-phase writes of up to so many nodes of 64 ranks, with those of the literature, and draw no "
         "curves")
      ->check(CLI::PositiveNumber);
  app.add_option("--simulate", options.simulated_nodes,
                 "with --nodes: of more nodes only count messages; default: 1024");
  app.add_option("--node-relay", options.node_relay, "value of the hint node_relay")
      ->check(CLI::IsMember({"auto", "off", "on"}));
  app.add_option("--dir", options.dir, "accepted and unused: nothing is written");
  app.add_option("--json", options.json, "write all results to this file");
  CLI11_PARSE(app, argc, argv);
  try {
    bench::run(options);
    return 0;
  } catch (const std::exception& error) {
    bench::give_up(error.what());
  }
}
