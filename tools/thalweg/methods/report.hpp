// Results made ready to be shown: medians to be looked up, groups, what is known of each method. For table.cpp and the
// parts of the page. Pure.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "methods/groups.hpp"
#include "methods/results.hpp"

namespace tool {

// Which methods met which cache in a phase: {phase: {cache: ids}}.
using RealCaches = std::map<std::string, std::map<std::string, std::set<std::string>>>;

class Report {
 public:
  explicit Report(const Results& results);  // borrowed
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;

  const Results& results() const { return results_; }
  RealCaches real_caches() const;
  const std::vector<ResultRow>& rows() const { return rows_; }
  const std::vector<Cell>& cells() const { return cells_; }
  const std::vector<std::string>& phases() const { return phases_; }  // those with times, in their order
  // Those of the records, and those that have times without a record of their own; by number.
  const std::vector<MethodFound>& methods() const { return methods_; }
  const MethodFound& method(const std::string& id) const;

  const ResultRow* find(const std::string& method, const std::string& phase, const Cell& cell) const;
  // The fastest there; null: nothing was measured. `ours`: 1 only Thalweg's, 0 only the others, -1 all.
  const ResultRow* best(const std::string& phase, const Cell& cell, int ours = -1) const;
  const Grouping& grouping(const std::string& phase) const;
  bool has_times(const std::string& method) const;
  // Share of a write that was hidden behind computing, 0..1, its median and interval; n is 0 when there is none.
  Estimate hidden(const std::string& method, const Cell& cell) const;

 private:
  void add_unnamed_methods();

  const Results& results_;
  std::vector<ResultRow> rows_;
  std::vector<Cell> cells_;
  std::vector<std::string> phases_;
  std::vector<MethodFound> methods_;
  std::map<std::string, Grouping> groupings_;
  std::map<std::tuple<std::string, std::string, Cell>, const ResultRow*> places_;
};

bool is_ours(const std::string& method);  // Thalweg's, by the table of methods

// Why a method is not built, without saying again that it is not.
std::string reason_of(const MethodFound& method);

// What cells have in common, and what tells each from the others, as few words as do.
struct CellHeadings {
  std::string common;                           // "4096x4096, order c, cache warm"
  std::vector<std::vector<std::string>> lines;  // of each cell: "4 ranks", then what else differs
};
CellHeadings headings_of(const std::vector<Cell>& cells);

}  // namespace tool
