// The plan of every access, on stderr, for who sets THALWEG_LOG=plan: one line of task 0.
#pragma once

#include <string>

#include "plan/cost_model.hpp"
#include "plan/plan.hpp"

namespace thalweg {

// thalweg: 'field.dat': write: <the pattern>: <the plan and its reason>
void log_plan(const std::string& path, const PlanInput& input, const Plan& plan);

}  // namespace thalweg
