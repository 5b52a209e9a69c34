#include "support/groups/process_ranks.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <new>
#include <thread>

namespace thalweg::test {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::minutes kPatience{1};
constexpr unsigned kTick = 200;  // microseconds

bool wait_while(const std::atomic<int>& value, int less_than) {
  const auto end = Clock::now() + kPatience;
  while (value.load() < less_than) {
    if (Clock::now() > end) return false;
    ::usleep(kTick);
  }
  return true;
}

// Sockets of one rank, to each other rank.
struct Wires {
  std::int64_t rank = 0, size = 1;
  std::vector<int> to;  // by rank

  bool send(std::int64_t peer, const void* data, std::size_t bytes) const {
    const auto* at = static_cast<const char*>(data);
    while (bytes > 0) {
      const ssize_t n = ::send(to[static_cast<std::size_t>(peer)], at, bytes, MSG_NOSIGNAL);
      if (n <= 0) return false;
      at += n;
      bytes -= static_cast<std::size_t>(n);
    }
    return true;
  }
  bool receive(std::int64_t peer, void* data, std::size_t bytes) const {
    auto* at = static_cast<char*>(data);
    while (bytes > 0) {
      const ssize_t n = ::recv(to[static_cast<std::size_t>(peer)], at, bytes, 0);
      if (n <= 0) return false;
      at += n;
      bytes -= static_cast<std::size_t>(n);
    }
    return true;
  }
};

int send_receive(void* user, const void* out, std::size_t nbytes_out, std::int64_t to, void* in, std::size_t nbytes_in,
                 std::int64_t from) {
  const Wires& wires = *static_cast<Wires*>(user);
  bool sent = true, received = true;
  {
    const std::jthread sender([&] { sent = to < 0 || wires.send(to, out, nbytes_out); });
    received = from < 0 || wires.receive(from, in, nbytes_in);
  }
  return sent && received ? 0 : 1;
}

[[noreturn]] void run_rank(Wires& wires, const ProcessRanks::Body& body, Steps& steps) {
  ::alarm(120);
  tw_transport calls{};
  calls.struct_size = sizeof calls;
  calls.rank = wires.rank;
  calls.size = wires.size;
  calls.user = &wires;
  calls.send_receive = send_receive;
  calls.process_id = wires.rank;
  calls.node_id = 0;
  tw_group* group = nullptr;
  if (tw_group_callbacks(&calls, &group) != TW_OK) ::_exit(8);
  body(group, steps);
  tw_group_free(&group);
  ::_exit(0);
}

}  // namespace

bool Steps::wait_for(int step) const { return wait_while(reached, step); }

void Steps::wait_until_allowed(int step) const {
  if (!wait_while(allowed, step)) ::_exit(9);
}

ProcessRanks::ProcessRanks(int ranks, const Body& body) {
  void* memory = ::mmap(nullptr, sizeof(Steps) * static_cast<std::size_t>(ranks), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  steps_ = static_cast<Steps*>(memory);
  for (int r = 0; r < ranks; ++r) new (steps_ + r) Steps;
  const auto n = static_cast<std::size_t>(ranks);
  std::vector<std::vector<int>> ends(n, std::vector<int>(n, -1));  // ends[a][b]: of rank a, to rank b
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      std::array<int, 2> pair{};
      if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) != 0) std::abort();
      ends[a][b] = pair[0];
      ends[b][a] = pair[1];
    }
  }
  const auto close_but = [&ends](int rank) {
    for (std::size_t a = 0; a < ends.size(); ++a)
      for (const int fd : ends[a])
        if (static_cast<int>(a) != rank && fd >= 0) ::close(fd);
  };
  for (int rank = 0; rank < ranks; ++rank) {
    const pid_t process = ::fork();
    if (process != 0) {
      processes_.push_back(process);
      continue;
    }
    close_but(rank);
    Wires wires{rank, ranks, ends[static_cast<std::size_t>(rank)]};
    run_rank(wires, body, steps_[rank]);
  }
  close_but(-1);
}

ProcessRanks::~ProcessRanks() {
  for (std::size_t r = 0; r < processes_.size(); ++r)
    if (processes_[r] > 0) kill(static_cast<int>(r));
  ::munmap(steps_, sizeof(Steps) * processes_.size());
}

void ProcessRanks::kill(int rank) {
  pid_t& process = processes_[static_cast<std::size_t>(rank)];
  ::kill(process, SIGKILL);
  ::waitpid(process, nullptr, 0);
  process = 0;
}

int ProcessRanks::join(int rank) {
  pid_t& process = processes_[static_cast<std::size_t>(rank)];
  const auto end = Clock::now() + kPatience;
  int status = 0;
  for (;;) {
    const pid_t gone = ::waitpid(process, &status, WNOHANG);
    if (gone == process) break;
    if (Clock::now() > end) return -2;
    ::usleep(kTick);
  }
  process = 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace thalweg::test
