#include "support/groups/process_ranks.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <new>

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

// Sockets of one rank: rank 0 has one to each other rank, the others one to rank 0.
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

int broadcast_from_0(const Wires& wires, void* data, std::size_t bytes) {
  bool good = true;
  for (std::int64_t r = 1; wires.rank == 0 && r < wires.size; ++r) good &= wires.send(r, data, bytes);
  if (wires.rank != 0) good = wires.receive(0, data, bytes);
  return good ? 0 : 1;
}

int broadcast(void* user, void* data, std::size_t bytes, std::int64_t root) {
  const Wires& wires = *static_cast<Wires*>(user);
  if (root != 0) {
    if (wires.rank == root && !wires.send(0, data, bytes)) return 1;
    if (wires.rank == 0 && !wires.receive(root, data, bytes)) return 1;
  }
  return broadcast_from_0(wires, data, bytes);
}

// Gathers through rank 0, which forwards the result to another root.
int gather(void* user, const void* data, std::size_t bytes, void* all, const std::size_t* bytes_of, std::int64_t root) {
  const Wires& wires = *static_cast<Wires*>(user);
  if (root != 0) return 1;  // the library never requests it
  if (wires.rank != 0) return wires.send(0, data, bytes) ? 0 : 1;
  auto* at = static_cast<char*>(all);
  for (std::int64_t r = 0; r < wires.size; ++r) {
    const std::size_t n = bytes_of[r];
    if (r == 0 && n > 0) std::memcpy(at, data, n);
    if (r != 0 && !wires.receive(r, at, n)) return 1;
    at += n;
  }
  return 0;
}

int scatter(void* user, const void* all, const std::size_t* bytes_of, void* data, std::size_t bytes,
            std::int64_t root) {
  const Wires& wires = *static_cast<Wires*>(user);
  if (root != 0) return 1;
  if (wires.rank != 0) return wires.receive(0, data, bytes) ? 0 : 1;
  const auto* at = static_cast<const char*>(all);
  for (std::int64_t r = 0; r < wires.size; ++r) {
    if (r == 0 && bytes > 0) std::memcpy(data, at, bytes);
    if (r != 0 && !wires.send(r, at, bytes_of[r])) return 1;
    at += bytes_of[r];
  }
  return 0;
}

int barrier(void* user) {
  const Wires& wires = *static_cast<Wires*>(user);
  char byte = 0;
  bool good = true;
  if (wires.rank != 0) return wires.send(0, &byte, 1) && wires.receive(0, &byte, 1) ? 0 : 1;
  for (std::int64_t r = 1; r < wires.size; ++r) good &= wires.receive(r, &byte, 1);
  for (std::int64_t r = 1; r < wires.size; ++r) good &= wires.send(r, &byte, 1);
  return good ? 0 : 1;
}

[[noreturn]] void run_rank(Wires& wires, const ProcessRanks::Body& body, Steps& steps) {
  ::alarm(120);
  tw_collectives calls{};
  calls.struct_size = sizeof calls;
  calls.rank = wires.rank;
  calls.size = wires.size;
  calls.user = &wires;
  calls.barrier = barrier;
  calls.broadcast = broadcast;
  calls.gather = gather;
  calls.scatter = scatter;
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
  std::vector<std::array<int, 2>> pairs(static_cast<std::size_t>(ranks));
  for (int r = 1; r < ranks; ++r)
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pairs[static_cast<std::size_t>(r)].data()) != 0)
      std::abort();
  for (int rank = 0; rank < ranks; ++rank) {
    const pid_t process = ::fork();
    if (process != 0) {
      processes_.push_back(process);
      continue;
    }
    Wires wires{rank, ranks, std::vector<int>(static_cast<std::size_t>(ranks), -1)};
    for (int r = 1; r < ranks; ++r) {
      const auto& pair = pairs[static_cast<std::size_t>(r)];
      if (rank == 0) wires.to[static_cast<std::size_t>(r)] = pair[0];
      if (rank == r) wires.to[0] = pair[1];
      for (int end = 0; end < 2; ++end)
        if (!(rank == 0 && end == 0) && !(rank == r && end == 1)) ::close(pair[static_cast<std::size_t>(end)]);
    }
    run_rank(wires, body, steps_[rank]);
  }
  for (int r = 1; r < ranks; ++r)
    for (const int fd : pairs[static_cast<std::size_t>(r)]) ::close(fd);
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
