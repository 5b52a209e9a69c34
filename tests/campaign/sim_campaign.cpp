// sim_campaign: plays seeds of the campaign (support/campaign.hpp) and stops at the first that fails.
//
//   sim_campaign --seeds FROM COUNT     FROM, FROM + 1, ...
//   sim_campaign --seed N               one seed, exactly as before; tells what it is
//
// A seed that hangs or ends the program is told, too. Exit status: 0 all is well, 1 a seed failed, 2 wrong usage.
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <string>
#include <utility>

#include "support/campaign.hpp"
#include "support/refuse_memory.hpp"

extern "C" [[gnu::weak]] void __sanitizer_set_death_callback(void (*callback)());

namespace {

constexpr unsigned kMostSeconds = 120;  // for one seed; then it is taken for hanging

char last_words[128];  // made before each seed: a signal handler may only write

void say_seed() { (void)!write(STDERR_FILENO, last_words, std::strlen(last_words)); }

void end_with_seed(int) {
  say_seed();
  _exit(1);
}

void watch() {
  struct sigaction action {};
  action.sa_handler = end_with_seed;
  sigaction(SIGALRM, &action, nullptr);
  if (__sanitizer_set_death_callback != nullptr) return __sanitizer_set_death_callback(say_seed);
  for (const int ends : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE}) sigaction(ends, &action, nullptr);
}

struct Sums {
  std::uint64_t accesses = 0, failed = 0, faults = 0, starved = 0;
  std::map<std::string, std::uint64_t> plans;
};

bool play_seed(std::uint64_t seed, Sums& sums) {
  std::snprintf(last_words, sizeof last_words, "seed %llu: ended the program, or hangs; again: --seed %llu\n",
                static_cast<unsigned long long>(seed), static_cast<unsigned long long>(seed));
  alarm(kMostSeconds);
  const thalweg::test::Scenario scenario = thalweg::test::draw_scenario(seed);
  const thalweg::test::Played played = thalweg::test::play(scenario, thalweg::test::refusal());
  alarm(0);
  sums.accesses += played.accesses;
  sums.failed += played.failed;
  sums.faults += played.fault_hit ? 1 : 0;
  sums.starved += played.starved ? 1 : 0;
  for (const auto& [plan, n] : played.plans) sums.plans[plan] += n;
  if (played.problem.empty()) return true;
  std::cerr << "FAILED " << scenario << "  " << played.problem << "\nagain: --seed " << seed << '\n';
  return false;
}

int play_seeds(std::uint64_t from, std::uint64_t count) {
  Sums sums;
  for (std::uint64_t seed = from; seed < from + count; ++seed)
    if (!play_seed(seed, sums)) return 1;
  std::cout << "seeds " << from << " to " << from + count - 1 << ": " << sums.accesses << " accesses, " << sums.failed
            << " of them failed as they had to, " << sums.faults << " faults of storage, " << sums.starved
            << " of memory; plans:";
  const char* before = " ";
  for (const auto& [plan, n] : sums.plans) std::cout << std::exchange(before, ", ") << n << ' ' << plan;
  std::cout << '\n';
  return 0;
}

bool to_number(const char* text, std::uint64_t& number) {
  char* end = nullptr;
  number = std::strtoull(text, &end, 10);
  return *text != '\0' && *end == '\0';
}

}  // namespace

int main(int argc, char** argv) {
  watch();
  std::uint64_t from = 0;
  std::uint64_t count = 0;
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "--seed" && argc == 3 && to_number(argv[2], from)) {
    std::cout << thalweg::test::draw_scenario(from);
    return play_seeds(from, 1);
  }
  if (what == "--seeds" && argc == 4 && to_number(argv[2], from) && to_number(argv[3], count) && count > 0)
    return play_seeds(from, count);
  std::cerr << "usage: sim_campaign --seeds FROM COUNT | --seed N\n";
  return 2;
}
