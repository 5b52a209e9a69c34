#include <algorithm>
#include <functional>
#include <limits>
#include <vector>

#include "stage.hpp"
#include "stopwatch.hpp"

namespace probe {

namespace {

constexpr int kRepetitions = 12;  // the first connects, and touches pages
constexpr int kSmall = 8;
constexpr int kLarge = 4 << 20;

// A message from rank 0 to the last rank, and a short one back.
void exchange(const Ranks& ranks, std::vector<char>& memory, int bytes) {
  const int last = ranks.size() - 1;
  const auto send = [&](int to, int n) {
    must_mpi(MPI_Send(memory.data(), n, MPI_CHAR, to, 0, ranks.all().comm), "MPI_Send");
  };
  const auto receive = [&](int from, int n) {
    must_mpi(MPI_Recv(memory.data(), n, MPI_CHAR, from, 0, ranks.all().comm, MPI_STATUS_IGNORE), "MPI_Recv");
  };
  if (ranks.first()) {
    send(last, bytes);
    receive(last, kSmall);
  } else if (ranks.rank() == last) {
    receive(0, bytes);
    send(0, kSmall);
  }
}

// The least seconds of rank 0 for one of `times` calls: other load is no property of the machine. Ranks without a part
// sleep until it is over.
double least_seconds(const Ranks& ranks, int times, const std::function<void()>& once) {
  double least = std::numeric_limits<double>::max();
  for (int repetition = 0; repetition < kRepetitions; ++repetition) {
    ranks.start_together();
    Lap lap;
    for (int i = 0; i < times; ++i) once();
    least = std::min(least, lap() / times);
    ranks.meet();
  }
  return least;
}

}  // namespace

void measure_network(const Ranks& ranks) {
  Json out = {{"kind", "network"}, {"ranks", ranks.size()}, {"nodes", ranks.nodes()}};
  out["barrier_seconds"] = least_seconds(ranks, 50, [&] { must_mpi(MPI_Barrier(ranks.all().comm), "MPI_Barrier"); });
  if (ranks.size() > 1) {
    std::vector<char> memory(kLarge);
    out["latency_seconds"] = least_seconds(ranks, 200, [&] { exchange(ranks, memory, kSmall); }) / 2;
    out["bytes_per_second"] = kLarge / least_seconds(ranks, 4, [&] { exchange(ranks, memory, kLarge); });
  }
  if (ranks.first()) print_record(out);
}

}  // namespace probe
