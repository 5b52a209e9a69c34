// The plan of every access, on stderr, for who sets THALWEG_LOG=plan: one line of task 0.
#pragma once

#include <cstdint>
#include <string>

#include "engine/plan/cost_model.hpp"
#include "engine/plan/plan.hpp"

namespace thalweg {

// thalweg: 'field.dat': write: <the pattern>: <the plan and its reason>
void log_plan(const std::string& path, const PlanInput& input, const Plan& plan);
// thalweg: 'field.dat': 960 tasks of 16 nodes have bytes for one aggregator: node relays pass their messages on
void log_relay(const std::string& path, std::uint64_t sharers, std::int64_t nodes);

}  // namespace thalweg
