// live_campaign: plays commands beside processes that write a multifile (even seeds) or a vpfile (odd seeds)
// (support/crash/live_file.hpp). Arguments: support/campaign/seed_program.hpp. The command is $THALWEG, by default the one of this
// build.
#include <cstdlib>
#include <filesystem>
#include <string>

#include "support/campaign/seed_program.hpp"
#include "support/crash/live_file.hpp"

namespace {

using namespace thalweg::test;

std::string command() {
  if (const char* named = std::getenv("THALWEG")) return named;
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / "bin" / "thalweg").string();
}

}  // namespace

int main(int argc, char** argv) {
  Beside all;
  const auto play = [&](std::uint64_t seed) {
    const Beside one = run_beside_writers(command(), seed);
    all.commands += one.commands;
    all.refused += one.refused;
    all.kills += one.kills;
    all.orphaned += one.orphaned;
    return one.problem;
  };
  const auto sums = [&] {
    return std::to_string(all.commands) + " commands beside live writers, " + std::to_string(all.refused) +
           " of them refused; " + std::to_string(all.kills) + " processes killed, " + std::to_string(all.orphaned) +
           " of them that of task 0";
  };
  return run_seeds(argc, argv, {"live_campaign", describe_live_file, play, sums});
}
