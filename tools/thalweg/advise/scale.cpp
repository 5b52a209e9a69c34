#include "scale.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "common.hpp"

namespace tool {
namespace {

constexpr int64_t kMostTasks = 1024;               // simulated tasks: the answer takes seconds
constexpr int64_t kMostBytes = int64_t{32} << 20;  // of all tasks
constexpr int64_t kMostOfTask = int64_t{16} << 20;
constexpr int64_t kMostPieces = int64_t{1} << 20;  // of all tasks
constexpr int64_t kServers = 16;
constexpr double kServerNs = 20'000;
constexpr int64_t kStripe = int64_t{1} << 20;
constexpr double kLeastShrunk = 1.0 / 256;  // then a stripe is a page

// A library call or metadata operation for each object of all tasks: the simulated time multiplied by `factor`.
ScaleSeconds times(ScaleSeconds seconds, double factor) {
  return {seconds.open * factor, seconds.transfer * factor, seconds.close * factor};
}

// All nodes are simulated, if there are that many tasks: fewer nodes would share their links.
int64_t tasks_of_node(const Request& request) {
  const int64_t nodes = request.nodes_in_use();
  if (request.movers() <= kMostTasks) return (request.movers() + nodes - 1) / nodes;
  return std::max<int64_t>(1, kMostTasks / nodes);
}

// A power of two, so that pieces at the edges of stripes, as in real programs, also occur in the simulation.
uint64_t room_of_task(int64_t tasks) {
  return std::bit_floor(static_cast<uint64_t>(std::min(kMostOfTask, kMostBytes / tasks)));
}

}  // namespace

Scale::Scale(const Request& request, const Machine& machine) : request_(request) {
  facts_.bandwidth_is_told = request.storage_bandwidth > 0;
  facts_.storage_bandwidth =
      facts_.bandwidth_is_told ? request.storage_bandwidth : request.nodes_in_use() / machine.known.byte;
  facts_.create_rate_is_told = request.storage_create_rate > 0;
  facts_.create_rate = facts_.create_rate_is_told ? request.storage_create_rate : 1 / machine.create_seconds;
  costs_.tasks_per_node = tasks_of_node(request);
  facts_.simulated_tasks =
      std::min<int64_t>({request.movers(), kMostTasks, costs_.tasks_per_node * request.nodes_in_use()});
  facts_.servers = kServers;
  facts_.server_seconds = kServerNs * 1e-9;
  costs_.struct_size = sizeof costs_;
  costs_.node_latency_ns = machine.message_seconds * 1e9;
  costs_.node_byte_ns = machine.node_byte_seconds * 1e9;
  costs_.latency_ns = machine.net_latency_seconds * 1e9;
  costs_.byte_ns = machine.net_byte_seconds * 1e9;
  costs_.servers = kServers;
  costs_.stripe_bytes = kStripe;
  costs_.server_ns = kServerNs;
  costs_.server_byte_ns = static_cast<double>(kServers) * 1e9 / facts_.storage_bandwidth;
  costs_.create_ns = 1e9 / facts_.create_rate;
  costs_.open_ns = costs_.create_ns / 5;  // ratio of the simulation's defaults
}

ScaleSeconds Scale::seconds(tw_sim_way way, double runs_of_rank, int64_t in_turn) {
  const auto key = std::tuple(way, static_cast<int64_t>(runs_of_rank), in_turn);
  const auto found = known_.find(key);
  if (found != known_.end()) return found->second;
  return known_[key] = simulated(way, runs_of_rank, in_turn);
}

// A simulated byte stands for 1 / `shrunk` bytes: stripes are shorter and bytes slower by that factor.
ScaleSeconds Scale::run(tw_sim_access access, double shrunk) const {
  stop_if_interrupted();
  tw_sim_machine costs = costs_;
  costs.stripe_bytes = std::max<int64_t>(4096, static_cast<int64_t>(static_cast<double>(kStripe) * shrunk));
  costs.server_byte_ns /= shrunk;
  costs.node_byte_ns /= shrunk;
  costs.byte_ns /= shrunk;
  tw_sim_prediction found = {};
  found.struct_size = sizeof found;
  check(tw_sim_predict(&costs, &access, &found));
  return {found.open_seconds, found.transfer_seconds, found.close_seconds};
}

// Simulates as many pieces as fit, and half of them: the difference gives the time of further pieces.
ScaleSeconds Scale::simulated(tw_sim_way way, double runs_of_rank, int64_t in_turn) {
  const double bytes_of_rank = static_cast<double>(request_.bytes) / request_.movers();
  const double piece = std::max(1.0, bytes_of_rank / std::max(1.0, runs_of_rank));
  const auto room = static_cast<double>(room_of_task(facts_.simulated_tasks));
  const double shrunk = std::clamp(room / 2 / piece, kLeastShrunk, 1.0);
  const double simulated_piece = std::max(1.0, std::floor(std::min(piece * shrunk, room / 2)));
  tw_sim_access access = {};
  access.struct_size = sizeof access;
  access.way = way;
  access.direction = request_.phase == "write" ? TW_ACCESS_WRITE : TW_ACCESS_READ;
  access.tasks = facts_.simulated_tasks;
  access.tasks_per_process = 1;
  access.piece_bytes = static_cast<int64_t>(simulated_piece);
  access.in_turn = std::min(in_turn, facts_.simulated_tasks);
  const double all_pieces = std::max(1.0, bytes_of_rank * shrunk / simulated_piece);
  const int64_t most_of_task = kMostPieces / facts_.simulated_tasks;
  const double fitting = std::min(std::floor(room / simulated_piece), static_cast<double>(most_of_task));
  access.pieces = static_cast<int64_t>(std::clamp(fitting, 1.0, std::ceil(all_pieces)));
  ScaleSeconds result = run(access, shrunk);
  const auto many = static_cast<double>(access.pieces);
  if (many < all_pieces && access.pieces > 1) {
    access.pieces /= 2;
    const ScaleSeconds half = run(access, shrunk);
    const double each = std::max(0.0, result.transfer - half.transfer) / (many - static_cast<double>(access.pieces));
    result.transfer += each * (all_pieces - many);
  } else if (many < all_pieces) {
    result.transfer *= all_pieces / many;
  }
  return times(result, static_cast<double>(request_.movers()) / static_cast<double>(facts_.simulated_tasks));
}

}  // namespace tool
