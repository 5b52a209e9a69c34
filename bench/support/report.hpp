// What a benchmark says: comparisons as they are finished, the table of targets at the end, and all of it as JSON with
// the machine it ran on.
#ifndef BENCH_SUPPORT_REPORT_HPP
#define BENCH_SUPPORT_REPORT_HPP

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/comparison.hpp"

namespace bench {

// What the machine would allow, in the unit of the target it stands beside.
struct Limit {
  std::string name;
  double value = 0;
};

// Targets that ask the same of many cases are shown as a table: a line for each `row`, a column for each `column`. Of
// several targets in one place the worst is shown, with its `variant`.
struct Place {
  std::string row, column, variant;
};

struct Target {
  std::string name;
  Spread measured;
  double bound = 0;
  bool at_least = true;            // else at most
  std::string unit;                // "x", "s", "MB", "%", ...
  std::vector<Limit> limits = {};  // the narrowest first
  Place place = {};                // no row: a line of its own

  bool met() const { return at_least ? measured.median >= bound : measured.median <= bound; }
};

// The targets: those with a line of their own, then the table of the others.
void print_targets(const std::vector<Target>& targets);

// ">= 1.5 x"
std::string bound_text(const Target& target);

class Report {
 public:
  explicit Report(std::string benchmark);

  // Prints the comparison and keeps it. `where`: the file system, "" when there is none.
  void add(const Comparison& comparison, const std::string& where);
  // Facts that are no comparison, under `key`; `line` is printed.
  void add_fact(const std::string& key, nlohmann::json value, const std::string& line);
  void add_target(Target target) { targets_.push_back(std::move(target)); }

  void print_targets() const { bench::print_targets(targets_); }
  // Ends the program when the file cannot be written.
  void write_json(const std::string& path, const nlohmann::json& settings) const;

 private:
  std::string benchmark_;
  nlohmann::json machine_;  // at the start: the load is that of others
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
