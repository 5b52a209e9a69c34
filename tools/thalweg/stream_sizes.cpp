// Size classes by powers of four.
#include "stream_sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "common.hpp"

namespace tool {
namespace {

size_t size_class(int64_t bytes) {
  size_t i = 0;
  for (; bytes > 0; bytes /= 4) ++i;
  return std::min<size_t>(i, 30);
}

std::string bar(int64_t part, int64_t whole) {
  const double share = whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
  return std::string(static_cast<size_t>(std::ceil(share * 40)), '#');
}

}  // namespace

void StreamSizes::add(int64_t bytes, int64_t times) {
  if (times == 0) return;
  total = sum_of(total, bytes, times);
  min = n == 0 ? bytes : std::min(min, bytes);
  max = std::max(max, bytes);
  n += times;
  empty += bytes == 0 ? times : 0;
  classes[size_class(bytes)] += times;
}

Json histogram(const StreamSizes& sizes) {
  Json rows = Json::array();
  for (size_t i = 0; i < sizes.classes.size(); ++i) {
    if (sizes.classes[i] == 0) continue;
    const int64_t from = i == 0 ? 0 : int64_t{1} << (2 * (i - 1));
    const int64_t below = int64_t{1} << (2 * i);
    const bool open_ended = i + 1 == sizes.classes.size();
    rows.push_back(
        {{"from_bytes", from}, {"below_bytes", open_ended ? Json() : Json(below)}, {"files", sizes.classes[i]}});
  }
  return rows;
}

void print_histogram(const Json& histogram) {
  int64_t most = 0;
  for (const Json& row : histogram) most = std::max(most, row["files"].get<int64_t>());
  for (const Json& row : histogram) {
    const int64_t files = row["files"];
    const Json& below = row["below_bytes"];
    const std::string from = short_size(row["from_bytes"]);
    const std::string range = below == 1        ? "empty"
                              : below.is_null() ? from + " and more"
                                                : fmt::format("{} to {}", from, short_size(below));
    put(fmt::format("  {:>22}  {:>9}  {}\n", range, files, bar(files, most)));
  }
}

void print_each(const char* thing, int width, const Json& list) {
  int64_t first = 0;
  for (const Json& one : list) {
    const bool several = one.is_object();
    const Json& bytes = several ? one["bytes"] : one;
    const int64_t n = several ? one.front().get<int64_t>() : 1;
    put(fmt::format("{} {:>{}} {:>15}\n", thing, ranks_text(first, first + n - 1), width,
                    bytes.is_null() ? "unreadable" : std::to_string(bytes.get<int64_t>())));
    first += n;
  }
}

}  // namespace tool
