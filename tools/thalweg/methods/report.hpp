// Results prepared for display: medians by key, groups, facts about each method. For table.cpp and the sections of the
// page. Pure.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "methods/groups.hpp"
#include "methods/results.hpp"

namespace tool {

// The actual caches of the methods in a phase: {phase: {cache: ids}}.
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
  const std::vector<std::string>& phases() const { return phases_; }  // those with times, in order
  // Those of the records, and those with times but without a record; by number.
  const std::vector<MethodFound>& methods() const { return methods_; }
  const MethodFound& method(const std::string& id) const;

  const ResultRow* find(const std::string& method, const std::string& phase, const Cell& cell) const;
  // The fastest method; null: not measured. `ours`: 1 Thalweg's only, 0 the others only, -1 all.
  const ResultRow* best(const std::string& phase, const Cell& cell, int ours = -1) const;
  const Grouping& grouping(const std::string& phase) const;
  bool has_times(const std::string& method) const;
  // Share of a write hidden behind computation, 0..1, its median and interval; n is 0 without data.
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

// Why a method is not built, without the words "not built".
std::string reason_of(const MethodFound& method);

// Common properties of cells, and the shortest text that distinguishes each from the others.
struct CellHeadings {
  std::string common;                           // "4096x4096, order c, cache warm"
  std::vector<std::vector<std::string>> lines;  // of each cell: "4 ranks", then other differences
};
CellHeadings headings_of(const std::vector<Cell>& cells);

}  // namespace tool
