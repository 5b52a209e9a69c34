// Accesses and plans in words. Numbers without a locale, so that the text is the same everywhere.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "engine/plan/plan.hpp"

namespace thalweg {

namespace {

// `value` >= 0 with `digits` decimals: "1.20".
std::string decimal_text(double value, int digits) {
  const double scale = std::pow(10, digits);
  std::string text = std::to_string(static_cast<std::uint64_t>(std::llround(value * scale)));
  const auto n = static_cast<std::size_t>(digits);
  if (text.size() <= n) text.insert(0, n + 1 - text.size(), '0');
  return text.insert(text.size() - n, 1, '.');
}

// `value` in the largest of `units` that it reaches, each `step` times the one before: "1.5 KiB".
template <std::size_t N>
std::string scaled_text(double value, double step, const char* const (&units)[N]) {
  std::size_t unit = 0;
  for (; unit + 1 < N && value >= step; ++unit) value /= step;
  return decimal_text(value, 1) + " " + units[unit];
}

// "1 run", "2 runs"
std::string counted(std::uint64_t n, const char* what) { return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s"); }

}  // namespace

const char* shape_name(Shape shape) {
  static constexpr const char* kNames[] = {"empty", "contiguous", "strided", "interleaved", "sparse", "overlapping"};
  return kNames[static_cast<std::size_t>(shape)];
}

const char* method_name(Method method) {
  static constexpr const char* kNames[] = {"nothing", "direct", "shared", "aggregate", "naive"};
  return kNames[static_cast<std::size_t>(method)];
}

std::string describe(const GroupAccess& access) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::string text = std::string(shape_name(access.shape())) + ": " + counted(access.tasks, "task");
  if (access.bytes == 0) return text;
  const double run_bytes =
      static_cast<double>(access.bytes) / static_cast<double>(std::max<std::uint64_t>(1, access.runs));
  return fmt::format("{}, {} of {}, density {}, memory in {}", text, counted(access.runs, "run"),
                     scaled_text(run_bytes, 1024, kUnits), decimal_text(access.density(), 2),
                     counted(access.pieces, "piece"));
}

std::string describe(const Plan& plan) {
  static constexpr const char* kUnits[] = {"ns", "us", "ms", "s"};
  std::string text = method_name(plan.method);
  if (plan.method == Method::shared) text += " by " + counted(plan.workers, "worker");
  if (plan.method == Method::aggregate) text += " by " + counted(plan.workers, "aggregator");
  if (plan.pack) text += ", packed";
  if (plan.sieve) text += ", sieved";
  if (plan.past_cache) text += ", past the page cache";
  text += " (" + std::string(plan.reason);
  if (*plan.cached_as != '\0') text += fmt::format("; through the page cache: {}", plan.cached_as);
  if (plan.expected_ns > 0) text += "; expected " + scaled_text(plan.expected_ns, 1000, kUnits);
  return text + ")";
}

}  // namespace thalweg
