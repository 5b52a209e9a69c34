// Fits a few nonnegative constants to times: least squares of relative errors, with a guess for each constant that
// applies where the times do not determine it. Pure.
#pragma once

#include <vector>

namespace tool {

struct Observation {
  std::vector<double> terms;  // factors of the constants
  double seconds = 0;
};

// As many constants as guesses. Outliers count less: the fit minimises the median error.
std::vector<double> fit_constants(const std::vector<Observation>& seen, const std::vector<double>& guesses);

double sum_of_terms(const std::vector<double>& terms, const std::vector<double>& constants);

}  // namespace tool
