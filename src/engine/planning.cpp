#include "engine/planning.hpp"

#include <algorithm>

namespace thalweg {

namespace {

// Where both are allowed the cheaper way is taken; of equals that through the page cache.
Plan cheapest(const Strategy& strategy, const PlanInput& input, bool can_direct) {
  const bool wanted = input.direction == Direction::read ? strategy.direct_reads : strategy.direct_writes;
  const bool direct = wanted && can_direct;
  Plan past_cache;
  if (direct) {
    past_cache = choose_plan(input, strategy.direct_costs);
    past_cache.past_cache = past_cache.method != Method::nothing;
    if (!strategy.direct_where_cheaper) return past_cache;
  }
  const Plan through_cache = choose_plan(input, strategy.costs);
  return direct && past_cache.expected_ns < through_cache.expected_ns ? past_cache : through_cache;
}

}  // namespace

Plan plan_access(const Strategy& strategy, const PlanInput& facts, bool can_direct) {
  PlanInput input = facts;
  input.may_sieve_writes = facts.may_sieve_writes && strategy.sieve_writes;
  input.staging_bytes = strategy.staging_bytes;
  Plan plan = cheapest(strategy, input, can_direct);
  if (plan.method == Method::nothing) return plan;
  if (strategy.method.has_value() && (*strategy.method == Method::direct || input.shared_memory)) {
    plan.method = *strategy.method;
    plan.past_cache = plan.past_cache && plan.method != Method::naive;
    plan.reason = "the hint 'method' says so";
  }
  if (strategy.workers > 0) plan.workers = std::min(strategy.workers, input.tasks);
  return plan;
}

}  // namespace thalweg
