// Fitting a few constants that cannot be negative to times: least squares of relative errors, with a guess for each
// constant that holds where the times do not determine it. Pure.
#pragma once

#include <vector>

namespace tool {

struct Observation {
  std::vector<double> terms;  // what the constants are multiplied with
  double seconds = 0;
};

// As many constants as there are guesses. Times far from the others count less: the median error is to be small.
std::vector<double> fit_constants(const std::vector<Observation>& seen, const std::vector<double>& guesses);

double sum_of_terms(const std::vector<double>& terms, const std::vector<double>& constants);

}  // namespace tool
