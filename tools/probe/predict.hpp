// Predictions for machines that are not here: accesses simulated by libthalweg_sim, without MPI.
#pragma once

#include <iosfwd>

namespace probe {

// Reads one JSON object, {"machine": {...}, "accesses": [{...}, ...]}, whose members docs/design/simulation.md lists, and
// prints a `prediction` or `failure` record for each access, in order. Throws std::runtime_error that names a wrong
// member.
void predict(std::istream& questions);

}  // namespace probe
