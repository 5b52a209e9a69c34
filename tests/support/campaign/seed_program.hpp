// main() of a program that plays seeds and stops at the first failure:
//
//   NAME --seeds FROM COUNT     FROM, FROM + 1, ...
//   NAME --seed N               one seed, reproduced exactly; prints its description
//
// A seed that hangs or crashes the program is reported, too. Exit status: 0 success, 1 a seed failed, 2 wrong usage.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace thalweg::test {

struct SeedProgram {
  const char* name;
  std::function<std::string(std::uint64_t seed)> describe;  // description of a seed
  std::function<std::string(std::uint64_t seed)> play;      // "": success, else the error
  std::function<std::string()> sums;                        // totals of the seeds played so far
};
int run_seeds(int argc, char** argv, const SeedProgram& program);

}  // namespace thalweg::test
