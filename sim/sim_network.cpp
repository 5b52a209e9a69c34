#include "sim/sim_network.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

namespace thalweg {

namespace {

constexpr std::uint64_t kSmallPacket = 64;  // of a gather or scatter, with room for 48 bytes
constexpr std::uint64_t kSmallRoom = 48;
constexpr std::uint64_t kLargePacket = 256;  // of a broadcast
constexpr std::uint64_t kLargeRoom = 240;
constexpr std::uint64_t kLongReduction = 2048;
constexpr std::uint64_t kNumber = 8;
constexpr std::int64_t kFewProcesses = 16;
constexpr std::uint64_t kFewHeader = 48;  // of a packet in an exchange of few
constexpr std::uint64_t kFewRoom = 1904;

std::int64_t lowest_bit(std::int64_t v) { return v & -v; }
// The subtree of place v contains the existing places among v .. v + span - 1.
std::int64_t span_of(std::int64_t v, std::int64_t size) {
  return v == 0 ? static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(size))) : lowest_bit(v);
}
std::uint64_t places_below(std::int64_t v, std::int64_t size) {
  return static_cast<std::uint64_t>(std::min(span_of(v, size), size - v));
}

}  // namespace

// The threads of each process meet before and after the communication of their leaders.
class SimNetwork::Collective {
 public:
  explicit Collective(SimNetwork& network) : network_(network) {
    std::vector<SimTask>& tasks = network.ledger_.tasks;
    for (std::int64_t p = 0; p < network.size(); ++p) network.processes_[static_cast<std::size_t>(p)] = {};
    for (std::size_t r = 0; r < tasks.size(); ++r) {
      double& clock = network.processes_[r / static_cast<std::size_t>(network.tasks_per_process_)].clock;
      clock = std::max(clock, tasks[r].clock_ns);
    }
    meet();
  }
  ~Collective() {
    meet();
    std::vector<SimTask>& tasks = network_.ledger_.tasks;
    for (std::size_t r = 0; r < tasks.size(); ++r)
      tasks[r].clock_ns = network_.processes_[r / static_cast<std::size_t>(network_.tasks_per_process_)].clock;
  }
  Collective(const Collective&) = delete;
  Collective& operator=(const Collective&) = delete;

 private:
  void meet() {
    if (network_.tasks_per_process_ == 1) return;
    for (Process& process : network_.processes_) process.clock += network_.costs_.meeting_ns;
  }
  SimNetwork& network_;
};

SimNetwork::SimNetwork(const SimOptions& options, const SimCosts& costs, SimLedger& ledger)
    : tasks_per_process_(options.tasks_per_process),
      processes_per_node_(options.processes_per_node),
      costs_(costs),
      ledger_(ledger),
      processes_(static_cast<std::size_t>((options.tasks + tasks_per_process_ - 1) / tasks_per_process_)),
      next_(processes_.size()) {}

SimTask& SimNetwork::leader(std::int64_t process) {
  return ledger_.tasks[static_cast<std::size_t>(process * tasks_per_process_)];
}

SimNetwork::Wire SimNetwork::wire(std::int64_t a, std::int64_t b) const {
  if (node_of(a) == node_of(b)) return {costs_.node_ns, costs_.node_byte_ns};
  return {costs_.net_ns, costs_.net_byte_ns};
}

double SimNetwork::send(std::int64_t from, std::int64_t to, std::uint64_t bytes) {
  const Wire way = wire(from, to);
  SimTask& sender = leader(from);
  ++sender.messages;
  sender.bytes += bytes;
  double& clock = processes_[static_cast<std::size_t>(from)].clock;
  clock += costs_.send_ns + static_cast<double>(bytes) * way.byte;
  return clock + way.latency;
}

void SimNetwork::take(std::int64_t process, double arrival) {
  double& clock = processes_[static_cast<std::size_t>(process)].clock;
  clock = std::max(clock, arrival) + costs_.send_ns;
}

void SimNetwork::holds(std::int64_t process, std::uint64_t bytes) {
  SimTask& task = leader(process);
  task.most_received = std::max(task.most_received, bytes);
}

std::vector<std::uint64_t> SimNetwork::by_process(const std::vector<std::uint64_t>& bytes) const {
  std::vector<std::uint64_t> sums(processes_.size());
  for (std::size_t r = 0; r < bytes.size(); ++r)
    sums[static_cast<std::size_t>(process_of(static_cast<TaskRank>(r)))] += bytes[r];
  return sums;
}

// From the leaves to the root; a process receives from its children, the nearest first. Children have higher places.
template <class BytesOf>
void SimNetwork::up(std::int64_t root, BytesOf&& bytes_of) {
  const std::int64_t n = size();
  const auto process = [&](std::int64_t v) { return (v + root) % n; };
  for (std::int64_t v = n - 1; v >= 0; --v) {
    for (std::int64_t bit = 1; bit < span_of(v, n) && v + bit < n; bit *= 2)
      take(process(v), processes_[static_cast<std::size_t>(process(v + bit))].arrival);
    if (v == 0) continue;
    const std::int64_t to = process(v - lowest_bit(v));
    processes_[static_cast<std::size_t>(process(v))].arrival = send(process(v), to, bytes_of(v));
  }
}

// From the root to the leaves, the largest subtree first.
template <class BytesOf>
void SimNetwork::down(std::int64_t root, BytesOf&& bytes_of) {
  const std::int64_t n = size();
  const auto process = [&](std::int64_t v) { return (v + root) % n; };
  for (std::int64_t v = 0; v < n; ++v) {
    const auto here = static_cast<std::size_t>(process(v));
    if (v > 0) take(process(v), processes_[here].arrival);
    for (std::int64_t bit = span_of(v, n) / 2; bit > 0; bit /= 2) {
      if (v + bit >= n) continue;
      processes_[static_cast<std::size_t>(process(v + bit))].arrival =
          send(process(v), process(v + bit), bytes_of(v + bit));
    }
  }
}

void SimNetwork::disseminate() {
  const std::int64_t n = size();
  for (std::int64_t distance = 1; distance < n; distance *= 2) {
    for (std::int64_t p = 0; p < n; ++p)
      next_[static_cast<std::size_t>((p + distance) % n)] = send(p, (p + distance) % n, 0);
    for (std::int64_t p = 0; p < n; ++p) take(p, next_[static_cast<std::size_t>(p)]);
  }
}

// One round with a power of two of processes. Among the first 2 * extra processes only the odd ones take part.
void SimNetwork::swap_in_pairs(std::int64_t distance, std::int64_t extra, std::uint64_t bytes) {
  const auto process = [&](std::int64_t i) { return i < extra ? 2 * i + 1 : i + extra; };
  const std::int64_t n = size() - extra;
  for (std::int64_t i = 0; i < n; ++i)
    next_[static_cast<std::size_t>(process(i ^ distance))] = send(process(i), process(i ^ distance), bytes);
  for (std::int64_t i = 0; i < n; ++i) take(process(i), next_[static_cast<std::size_t>(process(i))]);
}

void SimNetwork::reduce_to_all(std::uint64_t bytes) {
  const auto power = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(size())));
  const std::int64_t extra = size() - power;
  for (std::int64_t i = 0; i < extra; ++i) take(2 * i + 1, send(2 * i, 2 * i + 1, bytes));
  if (bytes < kLongReduction) {
    for (std::int64_t distance = 1; distance < power; distance *= 2) swap_in_pairs(distance, extra, bytes);
  } else {
    std::uint64_t half = bytes;
    for (std::int64_t distance = 1; distance < power; distance *= 2) swap_in_pairs(distance, extra, half /= 2);
    for (std::int64_t distance = power / 2; distance > 0; distance /= 2, half *= 2)
      swap_in_pairs(distance, extra, half);
  }
  for (std::int64_t i = 0; i < extra; ++i) take(2 * i, send(2 * i + 1, 2 * i, bytes));
}

void SimNetwork::to_all(std::int64_t root, std::uint64_t bytes) {
  down(root, [](std::int64_t) { return kLargePacket; });
  if (bytes <= kLargeRoom) return;
  reduce_to_all(kNumber);
  down(root, [&](std::int64_t) { return bytes; });
}

void SimNetwork::to_root(std::int64_t root, const std::vector<std::uint64_t>& bytes) {
  up(root, [&](std::int64_t v) { return kSmallPacket * places_below(v, size()); });
  down(root, [](std::int64_t) { return kNumber; });
  std::vector<SimMessage> longer;
  for (std::int64_t p = 0; p < size(); ++p)
    if (p != root && bytes[static_cast<std::size_t>(p)] > kSmallRoom)
      longer.push_back({p, root, bytes[static_cast<std::size_t>(p)]});
  deliver(std::move(longer));
}

// All messages travel concurrently, those of earlier processes first. Each link of a node carries one message after
// another per direction; so does the path of a process within its node.
void SimNetwork::deliver(std::vector<SimMessage> messages) {
  if (messages.empty()) return;
  const auto clock_of = [&](std::int64_t p) -> double& { return processes_[static_cast<std::size_t>(p)].clock; };
  std::stable_sort(messages.begin(), messages.end(),
                   [&](const SimMessage& a, const SimMessage& b) { return clock_of(a.from) < clock_of(b.from); });
  const auto nodes = static_cast<std::size_t>(node_of(size() - 1) + 1);
  std::vector<double> out_free(nodes), in_free(nodes);
  std::vector<double> done(processes_.size());
  for (const SimMessage& message : messages) {
    const Wire way = wire(message.from, message.to);
    const double time = static_cast<double>(message.bytes) * way.byte;
    SimTask& sender = leader(message.from);
    ++sender.messages;
    sender.bytes += message.bytes;
    double start = clock_of(message.from) += costs_.send_ns;
    double& sent = done[static_cast<std::size_t>(message.from)];
    double& received = done[static_cast<std::size_t>(message.to)];
    double arrival = 0;
    if (node_of(message.from) == node_of(message.to)) {
      arrival = std::max(start + way.latency, received) + time;
    } else {
      double& out = out_free[static_cast<std::size_t>(node_of(message.from))];
      double& in = in_free[static_cast<std::size_t>(node_of(message.to))];
      start = std::max(start, out);
      out = start + time;
      arrival = in = std::max(start + way.latency, in) + time;
    }
    sent = std::max(sent, start + time);
    received = std::max(received, arrival) + costs_.send_ns;
  }
  for (std::size_t p = 0; p < processes_.size(); ++p) processes_[p].clock = std::max(processes_[p].clock, done[p]);
}

void SimNetwork::barrier() {
  const Collective collective(*this);
  disseminate();
}

void SimNetwork::broadcast(TaskRank root, std::uint64_t bytes) {
  const Collective collective(*this);
  to_all(process_of(root), bytes);
  for (std::int64_t p = 0; p < size(); ++p) holds(p, bytes);
}

void SimNetwork::gather(TaskRank root, const std::vector<std::uint64_t>& bytes) {
  const Collective collective(*this);
  to_root(process_of(root), by_process(bytes));
  holds(process_of(root), std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0}));
}

void SimNetwork::scatter(TaskRank root, const std::vector<std::uint64_t>& bytes) {
  const Collective collective(*this);
  const std::int64_t from = process_of(root);
  const std::vector<std::uint64_t> parts = by_process(bytes);
  down(from, [&](std::int64_t v) { return kSmallPacket * places_below(v, size()); });
  std::vector<SimMessage> longer;
  for (std::int64_t p = 0; p < size(); ++p) {
    const std::uint64_t part = parts[static_cast<std::size_t>(p)];
    holds(p, part);
    if (p != from && part > kSmallRoom) longer.push_back({from, p, part});
  }
  if (longer.empty()) return;
  reduce_to_all(kNumber);
  deliver(std::move(longer));
}

void SimNetwork::allgather(const std::vector<std::uint64_t>& bytes) {
  const Collective collective(*this);
  to_root(0, by_process(bytes));
  const std::uint64_t all =
      std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0}) + kNumber * (bytes.size() + 2);
  to_all(0, all);
  for (std::int64_t p = 0; p < size(); ++p) holds(p, all);
}

void SimNetwork::allreduce(std::uint64_t bytes) {
  const Collective collective(*this);
  reduce_to_all(bytes);
  for (std::int64_t p = 0; p < size(); ++p) holds(p, bytes);
}

void SimNetwork::fold(std::uint64_t bytes) {
  const Collective collective(*this);
  up(0, [&](std::int64_t) { return bytes; });
  down(0, [&](std::int64_t) { return 2 * bytes; });
  for (std::int64_t p = 0; p < size(); ++p) holds(p, 2 * bytes);
}

// Messages between two processes travel as one.
void SimNetwork::exchange(const std::vector<SimMessage>& messages) {
  const Collective collective(*this);
  std::vector<SimMessage> between;
  between.reserve(messages.size());
  for (const SimMessage& message : messages)
    between.push_back({process_of(message.from), process_of(message.to), message.bytes});
  std::sort(between.begin(), between.end(),
            [](const SimMessage& a, const SimMessage& b) { return std::pair(a.from, a.to) < std::pair(b.from, b.to); });
  std::size_t n = 0;
  for (const SimMessage& message : between) {
    if (n > 0 && between[n - 1].from == message.from && between[n - 1].to == message.to) {
      between[n - 1].bytes += message.bytes;
    } else {
      between[n++] = message;
    }
  }
  between.resize(n);
  std::vector<std::uint64_t> received(processes_.size());
  for (const SimMessage& message : between) received[static_cast<std::size_t>(message.to)] += message.bytes;
  for (std::int64_t p = 0; p < size(); ++p) holds(p, received[static_cast<std::size_t>(p)]);
  std::erase_if(between, [](const SimMessage& message) { return message.from == message.to; });
  if (size() <= kFewProcesses) return exchange_among_few(std::move(between));
  std::vector<SimMessage> lengths = between;
  for (SimMessage& length : lengths) length.bytes = kNumber;
  deliver(lengths);
  for (SimMessage& answer : lengths) answer = {answer.to, answer.from, 0};
  deliver(std::move(lengths));
  disseminate();
  reduce_to_all(kNumber);
  deliver(std::move(between));
}

void SimNetwork::exchange_among_few(std::vector<SimMessage> between) {
  std::vector<bool> announces(processes_.size());
  for (const SimMessage& message : between)
    if (message.bytes > kFewRoom) announces[static_cast<std::size_t>(message.from)] = true;
  std::vector<SimMessage> packets;
  for (std::int64_t p = 0; p < size(); ++p)
    for (std::int64_t q = 0; q < size(); ++q)
      if (p != q) packets.push_back({p, q, kFewHeader});
  const auto encloses = [&](const SimMessage& message) { return !announces[static_cast<std::size_t>(message.from)]; };
  for (const SimMessage& message : between)
    if (encloses(message))
      packets[static_cast<std::size_t>(message.from * (size() - 1) + message.to - (message.to > message.from ? 1 : 0))]
          .bytes += message.bytes;
  deliver(std::move(packets));
  std::erase_if(between, encloses);
  if (between.empty()) return;
  reduce_to_all(kNumber);
  deliver(std::move(between));
}

void SimNetwork::pass(std::vector<SimMessage> messages) {
  const Collective collective(*this);
  for (SimMessage& message : messages) message = {process_of(message.from), process_of(message.to), message.bytes};
  deliver(std::move(messages));
}

void SimNetwork::share() { const Collective collective(*this); }

void SimNetwork::duplicate() {
  const Collective collective(*this);
  reduce_to_all(256);
}

}  // namespace thalweg
