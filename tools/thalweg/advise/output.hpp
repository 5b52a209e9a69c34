// Output of `thalweg advise`: as JSON, and as text on standard output.
#pragma once

#include "advice.hpp"
#include "skeleton.hpp"
#include "validation.hpp"

namespace tool {

Json json_of(const Advice& advice, const Request& request, const Machine& machine);
void print_advice(const Advice& advice, const Request& request);
void print_code(const Skeleton& code);

Json json_of(const ValidationSummary& sum);
Json json_of(const ValidationPoint& point);
void print_validation(const std::vector<ValidationPoint>& points, const ValidationSummary& sum);

}  // namespace tool
