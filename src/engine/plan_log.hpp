// The plan of every access, on standard error, where THALWEG_LOG=plan asks for it: one line of task 0.
#pragma once

#include <cstdint>
#include <string>

#include "engine/plan/plan.hpp"

namespace thalweg {

bool logs_plans();
// thalweg: 'field.dat': write: <the access>: <the plan and its reason>
void log_plan(const std::string& path, const GroupAccess& access, const Plan& plan);
// thalweg: 'field.dat': 960 tasks of 16 nodes have bytes for one aggregator: node relays pass their messages on
void log_relay(const std::string& path, std::uint64_t sharers, std::int64_t nodes);

}  // namespace thalweg
