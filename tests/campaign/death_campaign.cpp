// death_campaign: plays lives of multifiles (even seeds) and vpfiles (odd seeds) with a death of the machine
// (support/crash/dying_file.hpp) and checks 25 images of each. Arguments: support/campaign/seed_program.hpp.
#include <string>

#include "support/campaign/seed_program.hpp"
#include "support/crash/dying_file.hpp"

namespace {

using namespace thalweg::test;

constexpr std::uint64_t kImages = 25;

bool of_vpfile(std::uint64_t seed) { return seed % 2 == 1; }

}  // namespace

int main(int argc, char** argv) {
  Deaths all;
  const auto play = [&](std::uint64_t seed) {
    const Deaths one = die_often(of_vpfile(seed), seed, kImages);
    all.images += one.images;
    all.sessions += one.sessions;
    all.kills += one.kills;
    all.repairs += one.repairs;
    return one.problem;
  };
  const auto sums = [&] {
    return std::to_string(all.images) + " images that the machine left, of lives with " + std::to_string(all.sessions) +
           " sessions, " + std::to_string(all.kills) + " kills and " + std::to_string(all.repairs) + " repairs";
  };
  const auto describe = [](std::uint64_t seed) { return make_dying_file(of_vpfile(seed), seed)->describe() + '\n'; };
  return run_seeds(argc, argv, {"death_campaign", describe, play, sums});
}
