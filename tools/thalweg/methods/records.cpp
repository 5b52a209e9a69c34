#include "methods/records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "common.hpp"

namespace tool {
namespace {

constexpr size_t kShown = 60;                     // bytes of a wrong value in a message
constexpr int64_t kMostRanks = int64_t{1} << 24;  // above any machine, so that sums cannot overflow
constexpr int64_t kMostElements = int64_t{1} << 58;
constexpr size_t kMostDimensions = 3;

std::string shown(const Json& value) {
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > kShown) text = text.substr(0, kShown) + "...";
  return text;
}

// Whole numbers within the range of the type.
bool as_count(const Json& value, int64_t* count) {
  if (value.is_number_unsigned()) {
    if (value.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX)) return false;
  } else if (!value.is_number_integer()) {
    return false;
  }
  *count = value.get<int64_t>();
  return true;
}

}  // namespace

void Record::refuse(const std::string& name, const std::string& why) const {
  throw Failure(kDamaged, fmt::format("{} record: '{}' {}", printable(kind_), printable(name.substr(0, kShown)), why));
}

bool Record::has(const std::string& name) const {
  const auto found = object_.find(name);
  return found != object_.end() && !found->is_null();
}

const Json& Record::member(const std::string& name) const {
  const auto found = object_.find(name);
  if (found == object_.end()) refuse(name, "is missing");
  return *found;
}

Record Record::part(const std::string& name) const {
  const Json& value = member(name);
  if (!value.is_object()) refuse(name, fmt::format("is {}, not an object", shown(value)));
  return {value, kind_};
}

std::string Record::text(const std::string& name) const {
  const Json& value = member(name);
  if (!value.is_string()) refuse(name, fmt::format("is {}, not text", shown(value)));
  return value.get<std::string>();
}

std::string Record::text_or_empty(const std::string& name) const { return has(name) ? text(name) : std::string(); }

std::string Record::word(const std::string& name) const {
  std::string value = text(name);
  if (value.empty()) refuse(name, "is empty");
  return value;
}

bool Record::truth(const std::string& name) const {
  const Json& value = member(name);
  if (!value.is_boolean()) refuse(name, fmt::format("is {}, not true or false", shown(value)));
  return value.get<bool>();
}

int64_t Record::count(const std::string& name, int64_t least, int64_t most) const {
  const Json& value = member(name);
  int64_t found = 0;
  if (!as_count(value, &found) || found < least || found > most)
    refuse(name, fmt::format("is {}, not a whole number from {} to {}", shown(value), least, most));
  return found;
}

int64_t Record::count_or(const std::string& name, int64_t otherwise) const {
  return has(name) ? count(name, 0, INT64_MAX) : otherwise;
}

double Record::number(const std::string& name) const {
  const Json& value = member(name);
  const double found = value.is_number() ? value.get<double>() : -1;
  if (!std::isfinite(found) || found < 0) refuse(name, fmt::format("is {}, not a nonnegative number", shown(value)));
  return found;
}

double Record::number_or_zero(const std::string& name) const { return has(name) ? number(name) : 0; }

std::vector<int64_t> Record::counts(const std::string& name, size_t most_entries, int64_t most) const {
  const Json& value = member(name);
  const bool fits = value.is_array() && !value.empty() && value.size() <= most_entries;
  if (!fits) refuse(name, fmt::format("is {}, not a list of 1 to {} numbers", shown(value), most_entries));
  std::vector<int64_t> found;
  for (const Json& entry : value) {
    int64_t count = 0;
    if (!as_count(entry, &count) || count < 1 || count > most)
      refuse(name, fmt::format("has {}, not a whole number from 1 to {}", shown(entry), most));
    found.push_back(count);
  }
  return found;
}

Cell Record::cell(const std::string& name) const {
  const Record record = part(name);
  Cell cell;
  cell.ranks = static_cast<int>(record.count("ranks", 1, kMostRanks));
  cell.shape = record.counts("shape", kMostDimensions, kMostElements);
  int64_t elements = 1;
  for (const int64_t extent : cell.shape) {
    if (extent > kMostElements / elements) record.refuse("shape", "has more elements than fit in a file");
    elements *= extent;
  }
  for (const int64_t parts : record.counts("grid", kMostDimensions, kMostRanks))
    cell.grid.push_back(static_cast<int>(parts));
  if (cell.grid.size() != cell.shape.size())
    record.refuse("grid", fmt::format("has {} entries, but 'shape' {}", cell.grid.size(), cell.shape.size()));
  cell.order = record.text("order");
  if (cell.order != "c" && cell.order != "f")
    record.refuse("order", fmt::format("is '{}', not 'c' or 'f'", printable(cell.order.substr(0, kShown))));
  cell.cache = record.text("cache");
  static constexpr std::array kCaches = {"warm", "sync", "drop", "direct"};
  if (std::ranges::find(kCaches, cell.cache) == kCaches.end()) {
    record.refuse("cache",
                  fmt::format("is '{}', not warm, sync, drop or direct", printable(cell.cache.substr(0, kShown))));
  }
  return cell;
}

}  // namespace tool
