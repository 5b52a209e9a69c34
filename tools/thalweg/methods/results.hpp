// Measurements: the records of a run (docs/design/methods.md) as values, parsed from lines of JSON, and their medians.
// Pure.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text.hpp"

namespace tool {

// A comparison: all times of one cell are of one task.
struct Cell {
  int ranks = 1;
  std::vector<int> grid;
  std::vector<int64_t> shape;
  std::string order = "c";     // "c" or "f"
  std::string cache = "warm";  // as requested

  int64_t bytes() const;  // of the array: elements of 4 bytes
  auto operator<=>(const Cell&) const = default;
};
std::string cell_text(const Cell& cell);  // "4 ranks as 2x2, 4096x4096, c, warm"
Json json_of(const Cell& cell);

struct MethodFound {
  std::string id, title;
  int number = 0;
  bool built = false;
  std::string library, reason;
};

struct TimeRecord {
  std::string method, phase, cache;
  Cell cell;
  int repetition = 1;
  double seconds = 0, open = 0, transfer = 0, close = 0;
  int64_t bytes = 0;
  int readers = 0;
  double compute_seconds = 0, hidden = 0;
};

struct FactsRecord {
  std::string method;
  Cell cell;
  int64_t files = 0, folders = 0, file_bytes = 0, stored_bytes = 0, memory_bytes = 0;
  std::map<std::string, std::string> hints;
  std::string plan;
};

// `failure` or `skipped`. Empty: not specific to a method, cell or phase.
struct Mishap {
  bool failed = false;
  std::string method, phase, message;
  bool has_cell = false;
  Cell cell;
};

struct Results {
  Json run = Json::object();  // as recorded: machine, storage, ...
  std::vector<Json> launches;
  std::vector<MethodFound> methods;  // each once, by number
  std::vector<TimeRecord> times;
  std::vector<FactsRecord> facts;
  std::vector<Mishap> mishaps;
  bool complete = false;
  double seconds = 0;
};

// The JSON object of one line. Throws Failure (kDamaged): no object, or nested deeper than any record.
Json parsed_record(std::string_view line);
// Adds one line. Throws Failure (kDamaged) with the error. Unknown kinds and members are ignored.
void add_record(Results& results, std::string_view line);
// Reads all lines of a file. Throws Failure with file and line, also for a file without records. `see` receives the
// line of each record.
Results load_results(const std::string& path, const std::function<void(const std::string& line)>& see = {});

// The phases of docs/design/methods.md in order. Other phases follow, by name.
std::span<const std::string_view> phase_order();

// A median with its confidence interval (docs/design/methods.md).
struct Estimate {
  int n = 0;
  double median = 0, low = 0, high = 0;
};
Estimate estimate(std::vector<double> values);

// One method, cell and phase.
struct ResultRow {
  std::string method, phase;
  Cell cell;
  Estimate seconds;
  int64_t bytes = 0;
};
// In order of cells, phases, then methods by number.
std::vector<ResultRow> result_rows(const Results& results);
double mib_per_second(int64_t bytes, double seconds);
Json json_of(const ResultRow& row);  // a `result` record

}  // namespace tool
