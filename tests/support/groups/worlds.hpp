// Every kind of group except MPI and OpenMP, with several numbers of tasks, for conformance tests.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "support/groups/run_on.hpp"

namespace thalweg::test {

// A kind of group with its number of tasks, and a function that runs a body on it.
struct World {
  std::string name;
  std::function<void(const OpBody&)> run;
};
inline void PrintTo(const World& world, std::ostream* out) { *out << world.name; }

std::vector<World> all_worlds();

}  // namespace thalweg::test
