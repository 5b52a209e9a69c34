// sim_campaign: plays seeds of the campaign (support/campaign/campaign.hpp). Arguments: support/campaign/seed_program.hpp.
#include <map>
#include <sstream>
#include <string>
#include <utility>

#include "support/campaign/campaign.hpp"
#include "support/campaign/seed_program.hpp"
#include "support/memory/refuse_memory.hpp"

namespace {

using namespace thalweg::test;

struct Sums {
  std::uint64_t accesses = 0, failed = 0, faults = 0, starved = 0;
  std::map<std::string, std::uint64_t> plans;

  std::string play_seed(std::uint64_t seed) {
    const Played played = play(draw_scenario(seed), refusal());
    accesses += played.accesses;
    failed += played.failed;
    faults += played.fault_hit ? 1 : 0;
    starved += played.starved ? 1 : 0;
    for (const auto& [plan, n] : played.plans) plans[plan] += n;
    return played.problem;
  }
  std::string text() const {
    std::ostringstream out;
    out << accesses << " accesses, " << failed << " of them failed as they had to, " << faults << " faults of storage, "
        << starved << " of memory; plans:";
    const char* before = " ";
    for (const auto& [plan, n] : plans) out << std::exchange(before, ", ") << n << ' ' << plan;
    return out.str();
  }
};

std::string describe(std::uint64_t seed) {
  std::ostringstream out;
  out << draw_scenario(seed);
  return out.str();
}

}  // namespace

int main(int argc, char** argv) {
  Sums sums;
  return run_seeds(argc, argv,
                   {"sim_campaign", describe, [&](std::uint64_t seed) { return sums.play_seed(seed); },
                    [&] { return sums.text(); }});
}
