// main() of a program that plays seeds and stops at the first that fails:
//
//   NAME --seeds FROM COUNT     FROM, FROM + 1, ...
//   NAME --seed N               one seed, exactly as before; tells what it is
//
// A seed that hangs or ends the program is told, too. Exit status: 0 all is well, 1 a seed failed, 2 wrong usage.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace thalweg::test {

struct SeedProgram {
  const char* name;
  std::function<std::string(std::uint64_t seed)> describe;  // what a seed is
  std::function<std::string(std::uint64_t seed)> play;      // "": all is well, else what is wrong
  std::function<std::string()> sums;                        // what was played so far
};
int run_seeds(int argc, char** argv, const SeedProgram& program);

}  // namespace thalweg::test
