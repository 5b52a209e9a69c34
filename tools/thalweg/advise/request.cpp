#include "request.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "common.hpp"
#include "json_number.hpp"
#include "methods/array.hpp"

namespace tool {
namespace {

constexpr double kElement = 4;
constexpr double kLeastLatency = 1e-9;
constexpr double kByteNsOfNode = 0.1;  // 10 GB/s, when not measured

// As square as the size permits.
std::vector<int64_t> shape_of(const Request& request) {
  const double elements = std::max(1.0, std::floor(static_cast<double>(request.bytes) / kElement));
  if (!request.is_array()) return {static_cast<int64_t>(elements)};
  const size_t dimensions = request.pattern == "block3d" ? 3 : 2;
  const auto side = static_cast<int64_t>(std::llround(std::pow(elements, 1.0 / static_cast<double>(dimensions))));
  std::vector<int64_t> shape(dimensions, std::max<int64_t>(side, 1));
  return shape;
}

std::string parts_text(int64_t parts) { return parts < INT32_MAX ? count_text(parts, "part") : "too many parts"; }

std::vector<int> grid_of(const Request& request, size_t dimensions) {
  if (request.pattern == "rows") {
    const std::vector<int> rows =
        request.order == "f" ? std::vector<int>{1, request.ranks} : std::vector<int>{request.ranks, 1};
    if (!request.grid.empty() && request.grid != rows)
      throw Failure(kUsage, fmt::format("--grid {} does not cut an array into rows; omit it, or use --pattern block2d",
                                        fmt::join(request.grid, "x")));
    return rows;
  }
  if (request.grid.empty()) return methods::grid_for(request.ranks, dimensions);
  int64_t parts = 1;  // limited to the largest number of ranks
  for (const int n : request.grid) parts = std::min<int64_t>(parts * n, INT32_MAX);
  if (parts != request.ranks || request.grid.size() != dimensions)
    throw Failure(kUsage,
                  fmt::format("--grid {} has {} in {}, the request {} in {}", fmt::join(request.grid, "x"),
                              parts_text(parts), count_text(static_cast<int64_t>(request.grid.size()), "dimension"),
                              count_text(request.ranks, "rank"), dimensions));
  return request.grid;
}

}  // namespace

Cell cell_of(const Request& request) {
  if (request.bytes < static_cast<int64_t>(kElement) * request.ranks)
    throw Failure(kUsage, fmt::format("--bytes {}: too few for {}, as an element has 4", request.bytes,
                                      count_text(request.ranks, "rank")));
  if (request.bytes < static_cast<int64_t>(kElement) * request.movers())
    throw Failure(kUsage, fmt::format("--readers {}: more than the {} elements in --bytes {}", request.movers(),
                                      request.bytes / static_cast<int64_t>(kElement), request.bytes));
  if (request.nodes > request.ranks)
    throw Failure(kUsage, fmt::format("--nodes {}: more than {}", request.nodes, count_text(request.ranks, "rank")));
  if (!request.is_array() && !request.grid.empty())
    throw Failure(kUsage, fmt::format("--grid is for arrays, and '{}' data have none", request.pattern));
  Cell cell;
  cell.ranks = request.ranks;
  cell.shape = shape_of(request);
  cell.grid = grid_of(request, cell.shape.size());
  cell.order = request.order;
  return cell;
}

Machine machine_of(const std::string& identity, const Json* entry, int cores) {
  Machine machine;
  machine.identity = identity;
  const Json none = Json::object();
  const Json& json = entry == nullptr ? none : *entry;
  machine.known = primitives_of(json);
  machine.calibration = calibration_of(json);
  machine.measured = !machine.calibration.empty();
  machine.cores = machine.measured ? machine.calibration.cores : cores;
  if (!machine.measured) machine.calibration = default_calibration(machine.known, machine.cores);
  machine.create_seconds = machine.known.open;
  machine.message_seconds = machine.known.message;
  machine.node_byte_seconds = kByteNsOfNode * 1e-9;
  const Json networks = json.contains("network") && json["network"].is_array() ? json["network"] : Json::array();
  for (const Json& network : networks) {
    const double latency = number_of(network, "latency_seconds", 0, kLeastLatency, 1e3);
    const double bandwidth = number_of(network, "bytes_per_second", 0, 1);
    if (latency == 0 || bandwidth == 0) continue;
    if (number_of(network, "nodes", 1) > 1) {
      machine.net_is_measured = true;
      machine.net_latency_seconds = latency;
      machine.net_byte_seconds = 1 / bandwidth;
    } else if (number_of(network, "ranks", 0) == 2) {
      machine.message_seconds = latency;
      machine.node_byte_seconds = 1 / bandwidth;
    }
  }
  return machine;
}

}  // namespace tool
