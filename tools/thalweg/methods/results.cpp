#include "methods/results.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <tuple>
#include <utility>

#include "common.hpp"
#include "methods/records.hpp"

namespace tool {
namespace {

constexpr int64_t kElementBytes = 4;
constexpr double kLeastSeconds = 1e-9;  // replaces a time of zero
constexpr double kConfidence = 0.95;
constexpr int kMostDepth = 16;  // of values within a record; records of the program have 4
constexpr int64_t kMostRepetitions = 1'000'000;

void add_method(Results& results, const Record& record) {
  MethodFound method;
  method.id = record.word("id");
  method.number = static_cast<int>(record.count("number", 1, 10'000));
  method.title = record.word("title");
  method.built = record.truth("built");
  method.library = record.text_or_empty("library");
  method.reason = record.text_or_empty("reason");
  const auto known = std::ranges::find(results.methods, method.id, &MethodFound::id);
  if (known != results.methods.end()) {
    if (!known->built && method.built) *known = std::move(method);  // one of several launches had it
    return;
  }
  const auto key = [](const MethodFound& m) { return std::pair(m.number, std::string_view(m.id)); };
  results.methods.insert(std::ranges::upper_bound(results.methods, key(method), {}, key), method);
}

void add_time(Results& results, const Record& record) {
  TimeRecord time;
  time.method = record.word("method");
  time.phase = record.word("phase");
  time.cell = record.cell("cell");
  time.cache = record.text_or_empty("cache");
  if (time.cache.empty()) time.cache = time.cell.cache;
  time.repetition = static_cast<int>(record.count("repetition", 1, kMostRepetitions));
  time.seconds = record.number("seconds");
  time.bytes = record.count("bytes", 0, INT64_MAX);
  if (record.has("parts")) {
    const Record parts = record.part("parts");
    time.open = parts.number_or_zero("open");
    time.transfer = parts.number_or_zero("transfer");
    time.close = parts.number_or_zero("close");
  }
  if (record.has("readers")) time.readers = static_cast<int>(record.count("readers", 0, 1 << 24));
  time.compute_seconds = record.number_or_zero("compute_seconds");
  time.hidden = std::min(record.number_or_zero("hidden"), 1.0);
  results.times.push_back(std::move(time));
}

void add_facts(Results& results, const Record& record) {
  FactsRecord facts;
  facts.method = record.word("method");
  facts.cell = record.cell("cell");
  facts.files = record.count_or("files", 0);
  facts.folders = record.count_or("folders", 0);
  facts.file_bytes = record.count_or("file_bytes", 0);
  facts.stored_bytes = record.count_or("stored_bytes", 0);
  facts.memory_bytes = record.count_or("memory_bytes", 0);
  facts.plan = record.text_or_empty("plan");
  if (record.has("hints")) {
    const Record hints = record.part("hints");
    for (const auto& [name, value] : record.member("hints").items()) facts.hints[name] = hints.text(name);
  }
  results.facts.push_back(std::move(facts));
}

void add_mishap(Results& results, const Record& record, bool failed) {
  Mishap mishap;
  mishap.failed = failed;
  mishap.method = record.text_or_empty("method");
  mishap.phase = record.text_or_empty("phase");
  mishap.message = record.text(failed ? "message" : "reason");
  mishap.has_cell = record.has("cell");
  if (mishap.has_cell) mishap.cell = record.cell("cell");
  results.mishaps.push_back(std::move(mishap));
}

size_t place_of(std::string_view phase) {
  const auto order = phase_order();
  return static_cast<size_t>(std::ranges::find(order, phase) - order.begin());
}

}  // namespace

int64_t Cell::bytes() const {
  int64_t bytes = kElementBytes;
  for (const int64_t extent : shape) bytes *= extent;
  return bytes;
}

std::string cell_text(const Cell& cell) {
  return fmt::format("{} as {}, {}, {}, {}", count_text(cell.ranks, "rank"), fmt::join(cell.grid, "x"),
                     fmt::join(cell.shape, "x"), cell.order, cell.cache);
}

Json json_of(const Cell& cell) {
  return {
      {"ranks", cell.ranks}, {"grid", cell.grid}, {"shape", cell.shape}, {"order", cell.order}, {"cache", cell.cache}};
}

Json parsed_record(std::string_view line) {
  bool deep = false;  // recursive readers would need an unbounded stack
  const auto shallow = [&deep](int depth, Json::parse_event_t, const Json&) {
    deep = deep || depth > kMostDepth;
    return depth <= kMostDepth;
  };
  Json object = Json::parse(line, shallow, false);
  if (deep || !object.is_object())
    throw Failure(kDamaged, fmt::format("not a record: '{}' is not a JSON object{}", printable(line.substr(0, 60)),
                                        deep ? ", or nested too deeply" : ""));
  return object;
}

void add_record(Results& results, std::string_view line) {
  const Json object = parsed_record(line);
  const std::string kind = Record(object, "unnamed").text("kind");
  const Record record(object, kind);
  if (kind == "run") {
    results.run = object;
  } else if (kind == "launch") {
    results.launches.push_back(object);
  } else if (kind == "method") {
    add_method(results, record);
  } else if (kind == "time") {
    add_time(results, record);
  } else if (kind == "facts") {
    add_facts(results, record);
  } else if (kind == "skipped" || kind == "failure") {
    add_mishap(results, record, kind == "failure");
  } else if (kind == "end") {
    results.complete = record.truth("complete");
    results.seconds = record.number_or_zero("seconds");
  }
}

Results load_results(const std::string& path, const std::function<void(const std::string& line)>& see) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail_with_errno("open", path);
  Results results;
  std::string line;
  int64_t number = 0, records = 0;
  while (std::getline(file, line)) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    try {
      add_record(results, line);
      if (see) see(line);
    } catch (const Failure& failure) {
      throw Failure(failure.exit, fmt::format("'{}', line {}: {}", printable(path), number, failure.what()));
    }
    ++records;
  }
  if (file.bad()) fail_with_errno("read", path);
  if (records == 0) {
    throw Failure(kDamaged, fmt::format("'{}' contains no records; make some with: thalweg methods --save FILE",
                                        printable(path)));
  }
  return results;
}

std::span<const std::string_view> phase_order() {
  static constexpr std::array<std::string_view, 6> kPhases = {"write", "read", "restart", "serial", "merge", "overlap"};
  return kPhases;
}

Estimate estimate(std::vector<double> values) {
  Estimate result;
  result.n = static_cast<int>(values.size());
  if (values.empty()) return result;
  std::ranges::sort(values);
  const size_t n = values.size();
  result.median = n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
  // The k-th least and the k-th greatest value bound the median unless fewer than k of n values fell on one side of it,
  // each with probability 1/2: takes the largest k for which that is sufficiently unlikely. None: least and greatest.
  size_t k = 0;
  double tail = 0;
  const auto chance = [n](size_t below) {
    const double count = static_cast<double>(n), j = static_cast<double>(below);
    return std::exp(std::lgamma(count + 1) - std::lgamma(j + 1) - std::lgamma(count - j + 1) - count * std::log(2.0));
  };
  while (k < n / 2 && 1 - 2 * (tail + chance(k)) >= kConfidence) tail += chance(k++);
  const size_t lowest = k == 0 ? 0 : k - 1;
  result.low = values[lowest];
  result.high = values[n - 1 - lowest];
  return result;
}

double mib_per_second(int64_t bytes, double seconds) {
  return static_cast<double>(bytes) / (1 << 20) / std::max(seconds, kLeastSeconds);
}

std::vector<ResultRow> result_rows(const Results& results) {
  const auto number_of = [&](const std::string& id) {
    const auto found = std::ranges::find(results.methods, id, &MethodFound::id);
    return found == results.methods.end() ? INT32_MAX : found->number;
  };
  using Key = std::tuple<Cell, size_t, std::string, int, std::string>;  // cell, place and name of phase, method
  std::map<Key, std::pair<std::vector<double>, int64_t>> sorted;
  for (const TimeRecord& time : results.times) {
    auto& [seconds, bytes] = sorted[{time.cell, place_of(time.phase), time.phase, number_of(time.method), time.method}];
    seconds.push_back(time.seconds);
    bytes = time.bytes;
  }
  std::vector<ResultRow> rows;
  for (const auto& [key, measured] : sorted) {
    const auto& [cell, place, phase, number, method] = key;
    rows.push_back({method, phase, cell, estimate(measured.first), measured.second});
  }
  return rows;
}

Json json_of(const ResultRow& row) {
  return {{"kind", "result"},
          {"method", row.method},
          {"cell", json_of(row.cell)},
          {"phase", row.phase},
          {"n", row.seconds.n},
          {"seconds", {{"median", row.seconds.median}, {"low", row.seconds.low}, {"high", row.seconds.high}}}};
}

}  // namespace tool
