#include "model.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <ranges>

#include "json_number.hpp"
#include "methods/array.hpp"
#include "nnls.hpp"

namespace tool {
namespace {

constexpr size_t kLeastCells = 3;        // fewer cells do not determine the constants
constexpr double kLeastSeconds = 1e-15;  // of a method: constants that are all smaller are no measurement
constexpr double kLeastByteNs = 1e-4;    // smaller values are impossible
constexpr double kLeastCallNs = 1;
constexpr double kCacheBytes = 1 << 20;  // of a core: larger data of a rank is in memory

double meetings_of(const methods::MethodInfo& method, const Load& load) {
  if (load.ranks < 2) return 0;
  // Ranks without a core delay each step of a barrier: as in src/engine/plan/plan.cpp.
  const double crowd = load.ranks > load.cores ? 4 * load.ranks / load.cores : 1;
  const double calls = method.id == "mpiio-global-1" ? std::max(1.0, load.runs / load.ranks) : 1;
  return calls * static_cast<double>(std::bit_width(static_cast<uint64_t>(load.ranks))) * crowd;
}

double stretches_of(const methods::MethodInfo& method, std::string_view phase, const Load& load) {
  if (method.outcome == methods::Outcome::global_array) return load.runs;
  return phase == "restart" ? load.cuts : load.ranks;
}

// A grid of fewer dimensions does not cut the others.
int parts_in(const std::vector<int>& grid, size_t d) { return d < grid.size() ? grid[d] : 1; }

// Number of distinct boundaries of two divisions of `n`.
double parts_of_both(int64_t n, int64_t a, int64_t b) {
  std::vector<int64_t> begins;
  for (const int64_t parts : {a, b})
    for (int64_t part = 0; part < parts; ++part) begins.push_back(n * part / parts);
  std::ranges::sort(begins);
  return static_cast<double>(std::ranges::unique(begins).begin() - begins.begin());
}

Json json_of(const Constants& constants) {
  Json json = Json::object();
  for (size_t j = 0; j < kTerms; ++j)
    if (constants[j] > 0) json[kTermNames[j]] = constants[j];
  return json;
}

// Empty: a member is no number, negative, or the sum is next to zero.
Constants constants_of(const Json& json) {
  Constants constants(kTerms, 0);
  if (!json.is_object()) return {};
  for (size_t j = 0; j < kTerms; ++j) {
    if (!json.contains(kTermNames[j])) continue;
    const Json& value = json[kTermNames[j]];
    if (!value.is_number() || !(value.get<double>() >= 0) || value.get<double>() > 1e9) return {};
    constants[j] = value.get<double>();
  }
  if (std::ranges::max(constants) < kLeastSeconds) return {};
  return constants;
}

Constants guesses_for(const methods::MethodInfo& method, const Primitives& known) {
  const bool own_files = method.outcome == methods::Outcome::separate;
  const bool one_by_one = method.id.ends_with("-0") || method.id.ends_with("-1");
  const bool gathers = method.id == "gather";
  Constants guess(kTerms, 0);
  guess[kFixed] = 3 * known.open;
  guess[kPerRank] = own_files ? known.open : known.open / 2;
  guess[kMeeting] = 10 * known.message;
  guess[kByte] = known.byte * (gathers ? 1.5 : 0.5);
  guess[kSharedByte] = known.byte * (method.collective ? 1.5 : 1);
  guess[kRun] = one_by_one ? known.call : known.call / 4;
  return guess;
}

// For each time: predicts it with constants fitted to the others.
void add_left_out_errors(const std::vector<Observation>& all, const Constants& guesses, std::vector<double>& errors) {
  if (all.size() <= kLeastCells) return;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].seconds <= 0) continue;
    std::vector<Observation> others = all;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    const double told = sum_of_terms(all[i].terms, fit_constants(others, guesses));
    errors.push_back(std::abs(told - all[i].seconds) / all[i].seconds);
  }
}

std::string text_of(const Json& json, const char* name) {
  return json.contains(name) && json[name].is_string() ? json[name].get<std::string>() : std::string();
}

}  // namespace

const std::array<const char*, kTerms> kTermNames = {"fixed",       "per_rank", "meeting", "byte",
                                                    "shared_byte", "far_byte", "run"};

std::string term_meaning(const methods::MethodInfo& method, Term term) {
  switch (term) {
    case kFixed:
      return "opening and closing";
    case kPerRank:
      return "cost of each further rank";
    case kMeeting:
      return "barriers";
    case kByte:
      return "bytes transferred serially";
    case kSharedByte:
      return method.collective ? "bytes exchanged between ranks" : "bytes transferred in parallel";
    case kFarByte:
      return "bytes beyond the cache of a core";
    case kRun:
      return "noncontiguous pieces";
  }
  return {};
}

double runs_of(const Cell& cell, const std::vector<int>& grid) { return runs_of(cell, grid, grid); }

// From the fastest dimension on: uncut dimensions belong to the run; the first cut one ends it, and each index of
// slower dimensions starts another.
double runs_of(const Cell& cell, const std::vector<int>& grid, const std::vector<int>& other) {
  const size_t n = cell.shape.size();
  double runs = 1;
  bool cut = false;
  for (size_t i = 0; i < n; ++i) {
    const size_t d = cell.order == "f" ? i : n - 1 - i;
    if (cut) {
      runs *= static_cast<double>(cell.shape[d]);
    } else if (parts_in(grid, d) > 1 || parts_in(other, d) > 1) {
      runs = parts_of_both(cell.shape[d], parts_in(grid, d), parts_in(other, d));
      cut = true;
    }
  }
  return runs;
}

// From the fastest dimension on: while no block is cut its bytes are contiguous.
double chunk_runs_of(const Cell& cell, const std::vector<int>& grid) {
  const size_t n = cell.shape.size();
  double runs = 1;
  bool cut = false;
  for (size_t i = 0; i < n; ++i) {
    const size_t d = cell.order == "f" ? i : n - 1 - i;
    const double both = parts_of_both(cell.shape[d], parts_in(grid, d), parts_in(cell.grid, d));
    runs *= cut ? static_cast<double>(cell.shape[d]) : both;
    cut = cut || both > parts_of_both(cell.shape[d], 1, parts_in(cell.grid, d));
  }
  return runs;
}

Load load_of(const Cell& cell, std::string_view phase, int readers, int cores) {
  Load load;
  const bool restart = phase == "restart" && readers > 0;
  const std::vector<int> grid = restart ? methods::grid_for(readers, cell.shape.size()) : cell.grid;
  load.ranks = restart ? readers : cell.ranks;
  load.written = cell.ranks;
  load.cores = std::max(1, cores);
  load.bytes = static_cast<double>(cell.bytes());
  load.runs = std::max(runs_of(cell, grid), load.ranks);
  load.cuts = std::max(runs_of(cell, grid, cell.grid), load.ranks);
  return load;
}

std::vector<double> terms_of(const methods::MethodInfo& method, std::string_view phase, const Load& load) {
  const double workers = std::min(load.ranks, load.cores);
  std::vector<double> terms(kTerms, 0);
  terms[kFixed] = 1;
  terms[kPerRank] = std::max(load.ranks, phase == "restart" ? load.written : 1) - 1;
  terms[kMeeting] = meetings_of(method, load);
  terms[kByte] = load.bytes;
  terms[kSharedByte] = method.collective ? load.bytes * (1 - 1 / load.ranks) : load.bytes / workers;
  terms[kFarByte] = std::max(0.0, load.bytes / load.ranks - kCacheBytes) * load.ranks / workers;
  terms[kRun] = stretches_of(method, phase, load) / workers;
  return terms;
}

const Constants* Calibration::find(std::string_view method, std::string_view phase) const {
  const auto of_method = constants.find(std::string(method));
  if (of_method == constants.end()) return nullptr;
  const auto found = of_method->second.find(std::string(phase));
  return found == of_method->second.end() ? nullptr : &found->second;
}

double Calibration::most_bytes() const {
  double most = 0;
  for (const auto& [method, bytes] : largest_bytes) most = std::max(most, bytes);
  return most;
}

Primitives primitives_of(const Json& entry) {
  Primitives known;
  const Json none = Json::object();
  const Json& costs = entry.is_object() && entry.contains("buffered") ? entry["buffered"] : none;
  known.byte = number_of(costs, "write_byte_ns", known.byte * 1e9, kLeastByteNs, 1e9) * 1e-9;
  known.call = number_of(costs, "call_ns", known.call * 1e9, kLeastCallNs, 1e12) * 1e-9;
  known.message = number_of(costs, "message_ns", 3 * known.message * 1e9, kLeastCallNs, 1e12) / 3 * 1e-9;
  known.open = number_of(entry, "create_ns", known.open * 1e9, kLeastCallNs, 1e12) * 1e-9;
  return known;
}

Readers readers_of(const Results& results) {
  Readers readers;
  for (const TimeRecord& time : results.times)
    if (time.phase == "restart") readers[{time.method, time.cell}] = time.readers;
  return readers;
}

Calibration calibrate(const Results& results, int cores, const Primitives& known) {
  Calibration out;
  out.cores = cores;
  std::map<std::string, std::map<std::string, std::vector<Observation>>> seen;
  Readers readers = readers_of(results);
  for (const ResultRow& row : result_rows(results)) {
    const methods::MethodInfo* method = methods::find_method(row.method);
    if (method == nullptr || !std::ranges::count(kModelPhases, std::string_view(row.phase))) continue;
    const Load load = load_of(row.cell, row.phase, readers[{row.method, row.cell}], cores);
    seen[row.method][row.phase].push_back({terms_of(*method, row.phase, load), row.seconds.median});
    const std::string cell = cell_text(row.cell);
    if (!std::ranges::count(out.cells, cell)) out.cells.push_back(cell);
    double& largest = out.largest_bytes[row.method];
    largest = std::max(largest, static_cast<double>(row.cell.bytes()));
    out.cache = row.cell.cache;
  }
  std::vector<double> errors;
  for (const auto& [id, phases] : seen) {
    const Constants guesses = guesses_for(*methods::find_method(id), known);
    for (const auto& [phase, all] : phases) {
      if (all.size() < kLeastCells) continue;
      out.constants[id][phase] = fit_constants(all, guesses);
      add_left_out_errors(all, guesses, errors);
    }
  }
  if (!errors.empty()) out.left_out_error = estimate(std::move(errors)).median;
  return out;
}

Json json_of(const Calibration& calibration) {
  Json json = {{"mpi", calibration.mpi},
               {"cache", calibration.cache},
               {"measured", calibration.measured},
               {"cores", calibration.cores},
               {"cells", calibration.cells}};
  if (calibration.median_error > 0) json["median_error"] = calibration.median_error;
  if (calibration.left_out_error > 0) json["left_out_error"] = calibration.left_out_error;
  if (calibration.most_bytes() > 0) json["largest_bytes"] = calibration.most_bytes();
  for (const auto& [id, phases] : calibration.constants)
    for (const auto& [phase, constants] : phases) json[id][phase] = json_of(constants);
  for (const auto& [id, bytes] : calibration.largest_bytes)
    if (calibration.constants.contains(id)) json[id]["largest_bytes"] = bytes;
  return json;
}

Calibration calibration_of(const Json& entry) {
  Calibration out;
  if (!entry.is_object() || !entry.contains("methods") || !entry["methods"].is_object()) return out;
  const Json& json = entry["methods"];
  out.mpi = text_of(json, "mpi");
  out.cache = text_of(json, "cache");
  out.measured = text_of(json, "measured");
  out.cores = static_cast<int>(number_of(json, "cores", 1, 1, 1e6));
  out.median_error = number_of(json, "median_error", 0, 0, 1e3);
  out.left_out_error = number_of(json, "left_out_error", 0, 0, 1e3);
  if (json.contains("cells") && json["cells"].is_array())
    for (const Json& cell : json["cells"])
      if (cell.is_string()) out.cells.push_back(cell.get<std::string>());
  for (const methods::MethodInfo& method : methods::method_table()) {
    const std::string id(method.id);
    if (!json.contains(id) || !json[id].is_object()) continue;
    const double largest = number_of(json[id], "largest_bytes", number_of(json, "largest_bytes", 0));
    if (largest > 0) out.largest_bytes[id] = largest;
    for (const char* phase : kModelPhases) {
      if (!json[id].contains(phase)) continue;
      Constants constants = constants_of(json[id][phase]);
      if (!constants.empty()) out.constants[id][phase] = std::move(constants);
    }
  }
  return out;
}

Calibration default_calibration(const Primitives& known, int cores) {
  Calibration out;
  out.cores = cores;
  for (const methods::MethodInfo& method : methods::method_table())
    for (const char* phase : kModelPhases) out.constants[std::string(method.id)][phase] = guesses_for(method, known);
  return out;
}

double predicted_seconds(const methods::MethodInfo& method, std::string_view phase, const Load& load,
                         const Constants& constants) {
  return sum_of_terms(terms_of(method, phase, load), constants);
}

}  // namespace tool
