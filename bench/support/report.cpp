// Prints comparisons and writes all results as JSON.
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

nlohmann::json to_json(const Target& target) {
  nlohmann::json out = {{"name", target.name},          {"measured", target.measured.median},
                        {"target", bound_text(target)}, {"met", target.met()},
                        {"min", target.measured.low},   {"max", target.measured.high},
                        {"bound", target.bound},        {"unit", target.unit}};
  for (const Limit& limit : target.limits) out["limits"].push_back({{"name", limit.name}, {"value", limit.value}});
  const Place& place = target.place;
  if (!place.row.empty()) out["place"] = {{"row", place.row}, {"column", place.column}, {"variant", place.variant}};
  return out;
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

void Report::write_json(const std::string& path, const nlohmann::json& settings) const {
  nlohmann::json targets = nlohmann::json::array();
  for (const Target& target : targets_) targets.push_back(to_json(target));
  const nlohmann::json all = {{"benchmark", benchmark_},     {"settings", settings}, {"machine", machine_},
                              {"comparisons", comparisons_}, {"facts", facts_},      {"targets", targets}};
  std::ofstream file(path);
  file << all.dump(1) << '\n';
  file.close();
  if (!file) give_up("cannot write '" + path + "'");
}

}  // namespace bench
