#include "sharedfile/profile.hpp"

#include <algorithm>
#include <cmath>
#include <new>
#include <nlohmann/json.hpp>
#include <ranges>

#include "base/hint_table.hpp"
#include "storage/kept_check.hpp"

namespace thalweg {

namespace {

using Json = nlohmann::json;

constexpr int kMostDepth = 5;  // levels: document, list, file system, costs, number
constexpr double kMostNs = 1e9;
constexpr double kMostWorkers = 1e6;

// Reads members of an object, and records whether one was invalid. An absent member changes nothing.
class Members {
 public:
  explicit Members(const Json& object) : object_(object), ok_(object.is_object()) {}

  bool ok() const { return ok_; }
  const Json* find(const char* name) {
    if (!object_.is_object()) return nullptr;
    const auto found = object_.find(name);
    return found == object_.end() ? nullptr : &*found;
  }
  template <class T>
  void take(const char* name, double least, double most, T& value) {
    const Json* found = find(name);
    if (found == nullptr) return;
    const double number = found->is_number() ? found->get<double>() : std::nan("");
    if (number >= least && number <= most) {
      value = static_cast<T>(number);
    } else {
      ok_ = false;
    }
  }
  // A boolean or a string.
  template <class T>
  void take(const char* name, T& value) {
    const Json* found = find(name);
    if (found == nullptr) return;
    const T* given = found->get_ptr<const T*>();  // null: of another type
    ok_ = ok_ && given != nullptr;
    if (given != nullptr) value = *given;
  }
  // An integer within the range of the hint of that name.
  template <class T>
  void take_as_hint(const char* name, T& value) {
    const auto spec = find_hint(name, HintScope::file);
    take(name, static_cast<double>(spec.value()->min), static_cast<double>(spec.value()->max), value);
  }

 private:
  const Json& object_;
  bool ok_;
};

bool take_costs(const Json& json, StorageCosts& costs) {
  Members members(json);
  const auto time = [&](const char* name, double& value) { members.take(name, 0, kMostNs, value); };
  time("call_ns", costs.call_ns);
  time("piece_ns", costs.piece_ns);
  time("read_byte_ns", costs.read_byte_ns);
  time("write_byte_ns", costs.write_byte_ns);
  time("staged_read_byte_ns", costs.staged_read_byte_ns);
  time("staged_write_byte_ns", costs.staged_write_byte_ns);
  time("common_byte_ns", costs.common_byte_ns);
  time("copy_byte_ns", costs.copy_byte_ns);
  time("copy_piece_ns", costs.copy_piece_ns);
  time("handover_ns", costs.handover_ns);
  time("exchange_byte_ns", costs.exchange_byte_ns);
  time("exchange_piece_ns", costs.exchange_piece_ns);
  time("round_ns", costs.round_ns);
  time("message_ns", costs.message_ns);
  time("queueing_ns", costs.queueing_ns);
  members.take("parallel_reads", 0, kMostWorkers, costs.parallel_reads);
  members.take("parallel_writes", 0, kMostWorkers, costs.parallel_writes);
  return members.ok();
}

bool take_profile(const Json& json, StorageProfile& profile) {
  Members members(json);
  Strategy& strategy = profile.strategy;
  strategy.direct_where_cheaper = true;
  strategy.direct_costs = default_direct_costs();
  members.take("id", profile.id);
  members.take("measured", profile.measured);
  members.take("direct_reads", strategy.direct_reads);
  members.take("direct_writes", strategy.direct_writes);
  members.take_as_hint("queue_depth", strategy.queue_depth);
  members.take_as_hint("transfer_bytes", strategy.transfer_bytes);
  members.take_as_hint("staging_bytes", strategy.staging_bytes);
  members.take("physical_files", 1, kMostWorkers, strategy.physical_files);
  const Json* buffered = members.find("buffered");
  const Json* direct = members.find("direct");
  return members.ok() && !profile.id.empty() && (buffered == nullptr || take_costs(*buffered, strategy.costs)) &&
         (direct == nullptr || take_costs(*direct, strategy.direct_costs));
}

}  // namespace

StorageCosts default_direct_costs() {
  // Bypassing the page cache, the device serves all tasks in parallel, and a call waits for it.
  StorageCosts costs;
  costs.call_ns = 20'000;
  costs.write_byte_ns = costs.read_byte_ns = costs.staged_write_byte_ns = costs.staged_read_byte_ns = 0.4;
  costs.parallel_writes = 0;
  return costs;
}

std::vector<StorageProfile> parse_profiles(std::string_view json) {
  std::vector<StorageProfile> profiles;
  // Deeper values do not belong to the format; limits the memory that nested brackets take.
  const auto shallow = [](int depth, Json::parse_event_t, const Json&) { return depth <= kMostDepth; };
  const Json all = Json::parse(json.begin(), json.end(), shallow, false);
  if (!all.is_object()) return profiles;
  const auto version = all.find("version");
  const auto systems = all.find("file_systems");
  if (version == all.end() || *version != 1 || systems == all.end() || !systems->is_array()) return profiles;
  for (const Json& system : *systems) {
    StorageProfile profile;
    if (take_profile(system, profile)) profiles.push_back(std::move(profile));
  }
  return profiles;
}

std::vector<StorageProfile> read_profiles(const std::string& path) {
  try {
    return parse_profiles(profile_text(path));
  } catch (const std::bad_alloc&) {
    return {};
  }
}

const StorageProfile* find_profile(std::string_view identity) {
  static const std::vector<StorageProfile> all = [] {
    const std::string path = profile_path();
    return path.empty() ? std::vector<StorageProfile>{} : read_profiles(path);
  }();
  if (identity.empty()) return nullptr;
  // The last entry of an identity counts.
  const auto found = std::ranges::find(all | std::views::reverse, identity, &StorageProfile::id);
  return found == all.rend() ? nullptr : &*found;
}

}  // namespace thalweg
