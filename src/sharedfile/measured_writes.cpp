#include "sharedfile/measured_writes.hpp"

#include <map>
#include <mutex>
#include <optional>

#include "sharedfile/profile.hpp"

namespace thalweg {

namespace {

// Faster answers come from a page cache, whose costs are known better than a few writes can measure.
constexpr double kSlowNs = 20'000;

using Measured = std::optional<MeasuredWrites>;

Measured measured_before_or_now(Backend& backend, const std::string& path, const std::string& identity) {
  static std::mutex mutex;
  static auto* const known = new std::map<std::string, Measured>;  // never destroyed: threads may run at exit
  const std::lock_guard lock(mutex);
  if (const auto found = known->find(identity); found != known->end()) return found->second;
  const Measured writes = backend.measure_writes(path);
  if (writes.has_value()) known->emplace(identity, writes);  // kept only on success: another folder may permit writing
  return writes;
}

}  // namespace

void measure_writes(Backend& backend, const std::string& path, const StorageInfo& storage, Strategy& strategy) {
  if (storage.identity.empty() || profile_path().empty() || find_profile(storage.identity) != nullptr) return;
  const Measured writes = measured_before_or_now(backend, path, storage.identity);
  if (!writes.has_value() || writes->call_ns < kSlowNs) return;
  for (StorageCosts* costs : {&strategy.costs, &strategy.direct_costs}) {
    costs->call_ns = std::max(costs->call_ns, writes->call_ns);
    costs->common_byte_ns = writes->byte_ns;
  }
  strategy.costs.parallel_writes = 0;  // synchronous waits of parallel writers do not delay each other
}

}  // namespace thalweg
