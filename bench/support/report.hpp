// Output of a benchmark: each comparison when it is complete, the table of targets at the end, and everything as JSON
// with a description of the machine.
#ifndef BENCH_SUPPORT_REPORT_HPP
#define BENCH_SUPPORT_REPORT_HPP

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/comparison.hpp"

namespace bench {

// A bound set by the machine, in the unit of its target.
struct Limit {
  std::string name;
  double value = 0;
};

// Position of a target in a table of similar targets: a line for each `row`, a column for each `column`. Among several
// targets at one position the worst is shown, with its `variant`.
struct Place {
  std::string row, column, variant;
};

struct Target {
  std::string name;
  Spread measured;
  double bound = 0;
  bool at_least = true;            // otherwise at most
  std::string unit;                // "x", "s", "MB", "%", ...
  std::vector<Limit> limits = {};  // the tightest first
  Place place = {};                // no row: a line of its own

  bool met() const { return at_least ? measured.median >= bound : measured.median <= bound; }
};

// Prints the targets: those with a line of their own, then the tables.
void print_targets(const std::vector<Target>& targets);

// ">= 1.5 x"
std::string bound_text(const Target& target);

class Report {
 public:
  explicit Report(std::string benchmark);

  // Prints the comparison and keeps it. `where`: the file system, or "".
  void add(const Comparison& comparison, const std::string& where);
  // Adds a value that is no comparison, under `key`; prints `line`.
  void add_fact(const std::string& key, nlohmann::json value, const std::string& line);
  void add_target(Target target) { targets_.push_back(std::move(target)); }

  void print_targets() const { bench::print_targets(targets_); }
  // Ends the program when the file cannot be written.
  void write_json(const std::string& path, const nlohmann::json& settings) const;

 private:
  std::string benchmark_;
  nlohmann::json machine_;  // recorded at the start, before the benchmark adds load
  nlohmann::json comparisons_ = nlohmann::json::array();
  nlohmann::json facts_ = nlohmann::json::object();
  std::vector<Target> targets_;
};

// Processor, cores, memory, kernel, load, compiler, versions, commit.
nlohmann::json describe_machine();

// "4.09 ms", "1.20 us"; "3.1 GB/s"
std::string time_text(double seconds);
std::string rate_text(const Amount& amount, double seconds);

}  // namespace bench

#endif
