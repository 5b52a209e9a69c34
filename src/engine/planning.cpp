#include "engine/planning.hpp"

#include <algorithm>

#include "engine/plan/aggregators.hpp"

namespace thalweg {

namespace {

// Where both are allowed the cheaper way is taken; of equals that through the page cache.
Plan cheapest(const Strategy& strategy, const PlanInput& input, bool can_direct) {
  const bool wanted = input.direction == Direction::read ? strategy.direct_reads : strategy.direct_writes;
  const bool direct = wanted && can_direct;
  Plan past_cache;
  if (direct) {
    PlanInput direct_input = input;
    direct_input.past_cache = true;
    past_cache = choose_plan(direct_input, strategy.direct_costs);
    past_cache.past_cache = past_cache.method != Method::nothing && past_cache.method != Method::naive;
    if (!strategy.direct_where_cheaper) return past_cache;
  }
  const Plan through_cache = choose_plan(input, strategy.costs);
  return direct && past_cache.expected_ns < through_cache.expected_ns ? past_cache : through_cache;
}

// Whether no block of the file is written by one task past the page cache while another one writes a part of it through
// the cache, which could put back what was there before.
bool blocks_are_apart(const PlanInput& input, const Plan& plan, bool whole_blocks) {
  if (input.direction == Direction::read || plan.method == Method::shared || plan.method == Method::aggregate ||
      input.tasks == 1)
    return true;
  const Shape shape = input.pattern.shape;
  const bool apart = shape == Shape::contiguous || shape == Shape::strided || shape == Shape::sparse;
  return apart || whole_blocks;
}

bool works_between_processes(Method method) { return method == Method::direct || method == Method::aggregate; }

}  // namespace

Plan plan_access(const Strategy& strategy, const PlanInput& facts, DirectIo direct) {
  PlanInput input = facts;
  input.may_sieve_writes = facts.may_sieve_writes && strategy.sieve_writes;
  input.staging_bytes = strategy.staging_bytes;
  input.aggregators = std::min(strategy.aggregators, input.most_aggregators);
  input.window_bytes = AggregatorBudget(strategy.aggregator_bytes).window;
  if (strategy.method.has_value() && (input.shared_memory || works_between_processes(*strategy.method)))
    input.method = strategy.method;
  // Threads of one process are planned for as they were measured, with as many cores as there were then.
  if (!input.shared_memory) input.cores = strategy.cores_of_node * std::max<std::size_t>(input.nodes, 1);
  input.workers = std::min(strategy.workers, input.tasks);
  const Plan plan = cheapest(strategy, input, direct.possible);
  if (!plan.past_cache || blocks_are_apart(input, plan, direct.whole_blocks)) return plan;
  return cheapest(strategy, input, false);
}

}  // namespace thalweg
