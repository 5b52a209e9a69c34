// What a benchmark says: comparisons as they are finished, the table of targets at the end, and all of it as JSON with
// the machine it ran on.
#ifndef BENCH_SUPPORT_REPORT_HPP
#define BENCH_SUPPORT_REPORT_HPP

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/comparison.hpp"

namespace bench {

// One line of the table of targets.
struct Target {
  std::string name;
  Spread measured;
  double bound = 0;
  bool at_least = true;  // else at most
  std::string unit;      // "x", "s", "MB", "%", ...

  bool met() const { return at_least ? measured.median >= bound : measured.median <= bound; }
};

class Report {
 public:
  explicit Report(std::string benchmark);

  // Prints the comparison and keeps it. `where`: the file system, "" when there is none.
  void add(const Comparison& comparison, const std::string& where);
  // Facts that are no comparison, under `key`; `line` is printed.
  void add_fact(const std::string& key, nlohmann::json value, const std::string& line);
  void add_target(Target target) { targets_.push_back(std::move(target)); }

  void print_targets() const;
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
