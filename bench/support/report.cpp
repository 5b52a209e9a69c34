// Prints comparisons and targets, and writes them as JSON.
#include "support/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <utility>

#include "support/scratch.hpp"

namespace bench {

std::string time_text(double seconds) {
  if (seconds < 1e-6) return fmt::format("{:.1f} ns", seconds * 1e9);
  if (seconds < 1e-3) return fmt::format("{:.2f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.2f} ms", seconds * 1e3);
  return fmt::format("{:.3f} s", seconds);
}

std::string rate_text(const Amount& amount, double seconds) {
  if (amount.unit == "byte") return fmt::format("{:.2f} GB/s", amount.count / seconds / 1e9);
  return fmt::format("{} per {}", time_text(seconds / amount.count), amount.unit);
}

namespace {

nlohmann::json to_json(const Comparison& comparison, const std::string& where) {
  nlohmann::json variants = nlohmann::json::array();
  for (const auto& variant : comparison.variants()) {
    for (const auto& phase : comparison.phases()) {
      const Spread s = comparison.seconds(variant, phase);
      variants.push_back({{"variant", variant},
                          {"phase", phase},
                          {"median_seconds", s.median},
                          {"min_seconds", s.low},
                          {"max_seconds", s.high},
                          {"seconds", comparison.samples(variant, phase)}});
    }
  }
  return {{"name", comparison.name()},        {"file_system", where},        {"amount", comparison.amount().count},
          {"unit", comparison.amount().unit}, {"notes", comparison.notes()}, {"variants", variants}};
}

// A number with three digits that count.
std::string short_number(double value) {
  return value >= 100 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

std::string bound_text(const Target& target) {
  return fmt::format("{} {} {}", target.at_least ? ">=" : "<=", short_number(target.bound), target.unit);
}

}  // namespace

Report::Report(std::string benchmark) : benchmark_(std::move(benchmark)), machine_(describe_machine()) {}

void Report::add(const Comparison& comparison, const std::string& where) {
  comparisons_.push_back(to_json(comparison, where));
  fmt::print("\n== {}{}\n", comparison.name(), where.empty() ? "" : ", " + where);
  for (const auto& phase : comparison.phases()) {
    for (const auto& variant : comparison.variants()) {
      const Spread s = comparison.seconds(variant, phase);
      fmt::print("  {:<10} {:<34} {:>11}  ({} .. {})  {}\n", phase, variant, time_text(s.median), time_text(s.low),
                 time_text(s.high), rate_text(comparison.amount(), s.median));
    }
  }
  for (const auto& [key, text] : comparison.notes()) fmt::print("  {}: {}\n", key, text);
  std::fflush(stdout);
}

void Report::add_fact(const std::string& key, nlohmann::json value, const std::string& line) {
  facts_[key] = std::move(value);
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

void Report::print_targets() const {
  std::size_t width = 10;
  for (const Target& target : targets_) width = std::max(width, target.name.size());
  fmt::print("\n{:<{}}  {:>22}  {:>12}  {}\n", "target", width, "measured (min .. max)", "target", "met");
  for (const Target& target : targets_) {
    const auto measured = fmt::format("{} ({} .. {})", short_number(target.measured.median),
                                      short_number(target.measured.low), short_number(target.measured.high));
    fmt::print("{:<{}}  {:>22}  {:>12}  {}\n", target.name, width, measured, bound_text(target),
               target.met() ? "met" : "SHORT");
  }
  std::fflush(stdout);
}

void Report::write_json(const std::string& path, const nlohmann::json& settings) const {
  nlohmann::json targets = nlohmann::json::array();
  for (const Target& t : targets_)
    targets.push_back({{"name", t.name},
                       {"measured", t.measured.median},
                       {"target", bound_text(t)},
                       {"met", t.met()},
                       {"min", t.measured.low},
                       {"max", t.measured.high},
                       {"bound", t.bound},
                       {"unit", t.unit}});
  const nlohmann::json all = {{"benchmark", benchmark_},     {"settings", settings}, {"machine", machine_},
                              {"comparisons", comparisons_}, {"facts", facts_},      {"targets", targets}};
  std::ofstream file(path);
  file << all.dump(1) << '\n';
  file.close();
  if (!file) give_up("cannot write '" + path + "'");
}

}  // namespace bench
