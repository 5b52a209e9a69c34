// How large the slabs of each process are in each physical file: a domain for each process that writes into it.
#pragma once

#include "multifile/write_plan.hpp"

namespace thalweg {

// Fills plan.domains, and of each file its domains and the numbers of its session that follow from them.
Status place_domains(const WritePlanInput& input, WritePlan& plan);

}  // namespace thalweg
