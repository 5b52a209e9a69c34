#include "support/campaign/seed_program.hpp"

#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>

extern "C" [[gnu::weak]] void __sanitizer_set_death_callback(void (*callback)());

namespace thalweg::test {

namespace {

constexpr unsigned kMostSeconds = 120;  // time limit of one seed

char last_words[128];  // formatted before each seed: a signal handler may only call write()

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

bool play_seed(const SeedProgram& program, std::uint64_t seed) {
  std::snprintf(last_words, sizeof last_words, "seed %llu: ended the program, or hangs; again: --seed %llu\n",
                static_cast<unsigned long long>(seed), static_cast<unsigned long long>(seed));
  alarm(kMostSeconds);
  const std::string problem = program.play(seed);
  alarm(0);
  if (problem.empty()) return true;
  std::cerr << "FAILED " << program.describe(seed) << "  " << problem << "\nagain: --seed " << seed << '\n';
  return false;
}

int play_seeds(const SeedProgram& program, std::uint64_t from, std::uint64_t count) {
  for (std::uint64_t seed = from; seed < from + count; ++seed)
    if (!play_seed(program, seed)) return 1;
  std::cout << "seeds " << from << " to " << from + count - 1 << ": " << program.sums() << '\n';
  return 0;
}

bool to_number(const char* text, std::uint64_t& number) {
  char* end = nullptr;
  number = std::strtoull(text, &end, 10);
  return *text != '\0' && *end == '\0';
}

}  // namespace

int run_seeds(int argc, char** argv, const SeedProgram& program) {
  watch();
  std::uint64_t from = 0;
  std::uint64_t count = 0;
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "--seed" && argc == 3 && to_number(argv[2], from)) {
    std::cout << program.describe(from) << std::flush;
    return play_seeds(program, from, 1);
  }
  if (what == "--seeds" && argc == 4 && to_number(argv[2], from) && to_number(argv[3], count) && count > 0)
    return play_seeds(program, from, count);
  std::cerr << "usage: " << program.name << " --seeds FROM COUNT | --seed N\n";
  return 2;
}

}  // namespace thalweg::test
