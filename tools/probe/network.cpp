#include "network.hpp"

#include <algorithm>
#include <functional>
#include <vector>

#include "method.hpp"
#include "posix_file.hpp"
#include "print_record.hpp"
#include "stopwatch.hpp"

namespace probe {

namespace {

constexpr int kRepetitions = 11;
constexpr int kSmall = 8;
constexpr int kLarge = 4 << 20;

// One kind of exchange, repeated by all ranks. Only the time of rank 0 counts.
struct Exchange {
  int times;
  std::function<void()> once;
  std::vector<double> seconds{};  // of one exchange, per repetition
};

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

class Messages {
 public:
  explicit Messages(const Ranks& ranks) : ranks_(ranks), last_(ranks.size() - 1) {}

  void barrier() const { must_mpi(MPI_Barrier(ranks_.all()), "MPI_Barrier"); }
  void round_trip() const { exchange(kSmall); }
  void large() const { exchange(kLarge); }

 private:
  // A message from rank 0 to the last rank, and a short one back.
  void exchange(int bytes) const {
    if (ranks_.first()) {
      send(last_, bytes);
      receive(last_, kSmall);
    } else if (ranks_.rank() == last_) {
      receive(0, bytes);
      send(0, kSmall);
    }
  }
  void send(int to, int bytes) const {
    must_mpi(MPI_Send(out_.span().data(), bytes, MPI_BYTE, to, 0, ranks_.all()), "MPI_Send");
  }
  void receive(int from, int bytes) const {
    must_mpi(MPI_Recv(in_.span().data(), bytes, MPI_BYTE, from, 0, ranks_.all(), MPI_STATUS_IGNORE), "MPI_Recv");
  }

  const Ranks& ranks_;
  int last_;
  Buffer out_{kLarge}, in_{kLarge};
};

// Ranks without a part sleep until it is over.
void run_once(const Ranks& ranks, Exchange& exchange) {
  ranks.start_together();
  const double begin = now();
  for (int i = 0; i < exchange.times; ++i) exchange.once();
  const double seconds = now() - begin;
  ranks.meet();
  exchange.seconds.push_back(seconds / exchange.times);
}

}  // namespace

void measure_network(const Ranks& ranks) {
  const Messages messages(ranks);
  std::vector<Exchange> exchanges = {{50, [&] { messages.barrier(); }}};
  if (ranks.size() > 1) {
    exchanges.push_back({200, [&] { messages.round_trip(); }});
    exchanges.push_back({4, [&] { messages.large(); }});
  }
  for (Exchange& exchange : exchanges) run_once(ranks, exchange);  // warm-up: connects, and touches pages
  for (Exchange& exchange : exchanges) exchange.seconds.clear();
  for (int repetition = 0; repetition < kRepetitions; ++repetition)
    for (Exchange& exchange : exchanges) run_once(ranks, exchange);
  if (!ranks.first()) return;
  Json out = {{"kind", "network"},          {"ranks", ranks.size()},
              {"nodes", ranks.nodes()},     {"barrier_seconds", median(exchanges[0].seconds)},
              {"latency_seconds", nullptr}, {"bytes_per_second", nullptr}};
  if (ranks.size() > 1) {
    out["latency_seconds"] = median(exchanges[1].seconds) / 2;
    out["bytes_per_second"] = kLarge / median(exchanges[2].seconds);
  }
  print_record(out);
}

}  // namespace probe
