#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "os/end_program.hpp"

namespace thalweg {

namespace {

// MPI_Abort may never return when memory is exhausted; SIGALRM ends the process then, and the launcher the others.
constexpr unsigned kMostSeconds = 10;
// Launchers forward standard error; some exit before all of it is forwarded once the processes have ended.
constexpr timespec kForwarding{0, 200'000'000};

std::atomic<void (*)()> end_of_others{nullptr};
std::atomic<pid_t> program_of{0};  // a child of fork does not belong to the program
std::atomic<bool> program_ends{false};

void die_after(unsigned seconds) {
  struct sigaction plain = {};
  plain.sa_handler = SIG_DFL;
  (void)::sigaction(SIGALRM, &plain, nullptr);
  sigset_t alarm_only;
  ::sigemptyset(&alarm_only);
  ::sigaddset(&alarm_only, SIGALRM);
  (void)::pthread_sigmask(SIG_UNBLOCK, &alarm_only, nullptr);
  (void)::alarm(seconds);
}

}  // namespace

void set_end_of_others(void (*end)()) {
  program_of.store(::getpid());
  end_of_others.store(end);
}

void end_program(const char* what, const char* where) noexcept {
  while (program_ends.exchange(true)) ::pause();
  std::array<char, 512> line{};
  const int n = std::snprintf(line.data(), line.size(), "thalweg: %s%s%s; the program ends\n", what,
                              *where != '\0' ? ", " : "", where);
  const auto bytes = static_cast<std::size_t>(std::clamp(n, 0, static_cast<int>(line.size()) - 1));
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), bytes);
  die_after(kMostSeconds);
  if (const auto end = end_of_others.load(); end != nullptr && program_of.load() == ::getpid()) {
    (void)::nanosleep(&kForwarding, nullptr);
    end();
  }
  std::_Exit(EXIT_FAILURE);
}

}  // namespace thalweg
