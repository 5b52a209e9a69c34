#include "engine/plan/plan.hpp"

#include "engine/plan/numbers_as_text.hpp"

namespace thalweg {

const char* method_name(Method method) {
  switch (method) {
    case Method::nothing:
      return "nothing";
    case Method::direct:
      return "direct";
    case Method::shared:
      return "shared";
    case Method::aggregate:
      return "aggregate";
    case Method::naive:
      return "naive";
  }
  return "unknown";
}

std::string describe(const Plan& plan) {
  static constexpr const char* kUnits[] = {"ns", "us", "ms", "s"};
  std::string text = method_name(plan.method);
  if (plan.method == Method::shared) {
    text += " by " + std::to_string(plan.workers) + (plan.workers == 1 ? " worker" : " workers");
  }
  if (plan.method == Method::aggregate)
    text += " by " + std::to_string(plan.workers) + (plan.workers == 1 ? " aggregator" : " aggregators");
  if (plan.pack) text += ", packed";
  if (plan.sieve) text += ", sieved";
  if (plan.past_cache) text += ", past the page cache";
  text += " (" + std::string(plan.reason);
  if (plan.method != Method::nothing) text += "; expected " + scaled_text(plan.expected_ns, 1000, kUnits);
  return text + ")";
}

}  // namespace thalweg
