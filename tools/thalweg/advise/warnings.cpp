// Warnings about a method, from the numbers of the request alone.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "advice.hpp"

namespace tool {
namespace {

constexpr int kManyFiles = 1000;
constexpr double kSmallRun = 64 * 1024;
constexpr double kManyRuns = 256;
constexpr double kLargestChunk = 4294967295.0;  // the size of a chunk has 32 bits in HDF5
constexpr double kChunkCache = 1 << 20;         // HDF5's default

std::string size_of(double bytes) { return short_size(static_cast<int64_t>(bytes)); }

constexpr double kArraysOfGather = 2;  // received pieces, and the assembled array

struct Block {
  double bytes, runs, run_bytes;
};

// The chunk of a writer in HDF5.
double chunk_bytes(const Request& request, const Cell& cell) {
  return static_cast<double>(cell.bytes()) / request.ranks;
}

// The block of a rank that moves it.
Block block_of(const Request& request, const Cell& cell) {
  const Load load = load_of(cell, request.phase, request.readers_or_default(), 1);
  const double bytes = load.bytes / load.ranks;
  const double runs = std::max(1.0, load.runs / load.ranks);
  return {bytes, runs, bytes / runs};
}

void warn_of_files(const methods::MethodInfo& method, const Request& request, std::vector<Warning>& out) {
  if (request.ranks >= kManyFiles)
    out.push_back({fmt::format("{} files for each output{}; creating, listing and deleting them is slow", request.ranks,
                               method.id == "file-per-task" ? " in one folder" : "")});
  if (request.is_array())
    out.push_back({"the result is not a global array: merge the files, or read them with the grid of the writers"});
}

void warn_of_chunks(const Request& request, const Cell& cell, std::vector<Warning>& out) {
  const double bytes = chunk_bytes(request, cell);
  const bool uneven = [&] {
    for (size_t d = 0; d < cell.shape.size(); ++d)
      if (cell.shape[d] % cell.grid[d] != 0) return true;
    return false;
  }();
  if (bytes > kLargestChunk)
    out.push_back(
        {fmt::format("a block of {} exceeds the limit of a chunk (4 GiB): use several chunks", size_of(bytes)), true});
  if (bytes > kChunkCache)
    out.push_back(
        {"reading a part of a chunk reads all of it, and chunks above 1 MiB do not fit in the chunk cache", true});
  if (uneven) out.push_back({"the shape is no multiple of the chunks: chunks at the edges are stored in full", true});
}

void warn_of_offsets(const methods::MethodInfo& method, const Request& request, const Cell& cell,
                     std::vector<Warning>& out) {
  const Block block = block_of(request, cell);
  if (block.runs < kManyRuns || block.run_bytes > kSmallRun) return;
  out.push_back({fmt::format("explicit offsets collapse here: each rank makes {:.0f} calls of {}{}; use a view",
                             block.runs, size_of(block.run_bytes), method.collective ? ", each with a barrier" : ""),
                 true});
}

}  // namespace

std::string impossible(const methods::MethodInfo& method, const Request& request, const Cell& cell) {
  const auto all = static_cast<double>(cell.bytes()), has = static_cast<double>(request.memory_per_node);
  const double needed = kArraysOfGather * all + all / request.nodes_in_use();
  if (method.id != "gather" || has == 0 || needed <= has) return {};
  return fmt::format("the gathering rank needs {} of memory and its node has {}", size_of(needed), size_of(has));
}

std::vector<Warning> warnings_of(const methods::MethodInfo& method, const Request& request, const Cell& cell) {
  std::vector<Warning> out;
  if (method.id == "gather")
    out.push_back({fmt::format("the gathering rank needs {} of memory beside its own data",
                               size_of(kArraysOfGather * static_cast<double>(cell.bytes()))),
                   true});
  if (method.outcome == methods::Outcome::separate) warn_of_files(method, request, out);
  if (method.id.starts_with("hdf5-chunked")) warn_of_chunks(request, cell, out);
  if (method.id == "mpiio-global-0" || method.id == "mpiio-global-1") warn_of_offsets(method, request, cell, out);
  if (method.outcome == methods::Outcome::chunks && request.is_array())
    out.push_back({"the file is not the array in its order: the blocks are consecutive"});
  if (method.outcome == methods::Outcome::chunks && request.pattern == "ragged")
    out.push_back({"the offset of a rank is the sum of the bytes before it: an MPI_Exscan for each output"});
  return out;
}

std::vector<std::string> duty_of(const Advice& advice, const Request& request) {
  const double between = request.every_seconds > 0 ? request.every_seconds : request.compute_seconds_per_step;
  if (between <= 0) return {};
  const double seconds = advice.choices.front().seconds;
  std::vector<std::string> out;
  std::string when = fmt::format("{:.3g} s of computing", between);
  if (request.every_seconds > 0 && request.compute_seconds_per_step > 0)
    when += fmt::format(" ({:.0f} steps)",
                        std::max(1.0, std::round(request.every_seconds / request.compute_seconds_per_step)));
  out.push_back(fmt::format("{:.3g} s of input and output for {}: {:.1f} % of the run time", seconds, when,
                            100 * seconds / (between + seconds)));
  const auto hidden =
      std::ranges::find_if(advice.choices, [](const Choice& choice) { return choice.method->id == "tw-nonblocking"; });
  if (request.phase != "write" || hidden == advice.choices.end()) return out;
  const double left = std::max(0.0, hidden->seconds - between);
  const std::string what = left > 0 ? fmt::format("{:.3g} s cannot be hidden, the rest", left) : "all of it";
  out.push_back(
      fmt::format("tw-nonblocking takes {:.3g} s during the next computation: {} can be hidden if cores are idle; see "
                  "the overlap that 'thalweg methods' measures. It needs a copy of the data, {} on each node",
                  hidden->seconds, what, short_size(request.bytes / request.nodes)));
  return out;
}

}  // namespace tool
