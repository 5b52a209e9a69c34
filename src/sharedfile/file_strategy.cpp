#include "sharedfile/file_strategy.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>

#include "base/hint_table.hpp"
#include "os/node_id.hpp"
#include "sharedfile/profile.hpp"
#include "storage/kept_check.hpp"

namespace thalweg {

namespace {

constexpr std::uint64_t kPage = 4096;

// "auto", the first word of io, method and node_relay, stands for the value in `before`.
Status set_hint(const Strategy& before, std::string_view name, std::string_view value, Strategy& strategy) {
  TW_ASSIGN_OR_RETURN(const HintSpec* spec, find_hint(name, HintScope::file));
  TW_ASSIGN_OR_RETURN(const std::uint64_t number, parse_hint(*spec, value));
  const bool word = number >= kHintWord;  // the word "auto"
  if (name == "io") {
    strategy.direct_reads = number == 0 ? before.direct_reads : number == 2;
    strategy.direct_writes = number == 0 ? before.direct_writes : number == 2;
    strategy.direct_where_cheaper = number == 0 && before.direct_where_cheaper;
  } else if (name == "method") {
    constexpr Method kMethods[] = {Method::direct, Method::shared, Method::naive, Method::aggregate};
    strategy.method = number == 0 ? before.method : kMethods[number - 1];
  } else if (name == "workers") {
    strategy.workers = word ? 0 : static_cast<std::size_t>(number);
  } else if (name == "aggregators") {
    strategy.aggregators = word ? 0 : static_cast<std::size_t>(number);
  } else if (name == "aggregator_bytes") {
    strategy.aggregator_bytes = number;
  } else if (name == "node_relay") {
    strategy.node_relay = number == 0 ? before.node_relay : number == 2;
  } else if (name == "queue_depth") {
    strategy.queue_depth = static_cast<unsigned>(number);
  } else if (name == "transfer_bytes") {
    strategy.transfer_bytes = number;
  } else if (name == "staging_bytes") {
    strategy.staging_bytes = number;
  } else if (name == "sieve_writes") {
    strategy.sieve_writes = number != 0;
  } else if (name == "striping_factor") {
    strategy.striping_factor = !word ? static_cast<std::uint32_t>(number) : number == kHintWord ? 0 : kAllTargets;
  } else if (name == "striping_unit") {
    strategy.striping_unit = word ? 0 : number;
  } else {
    return Status::error(Code::internal, "hint '{}' is in the table but not in use", name);
  }
  return {};
}

Status set_hints(std::string_view hints, Strategy& strategy) {
  const Strategy before = strategy;
  return for_each_hint(
      hints, [&](std::string_view name, std::string_view value) { return set_hint(before, name, value, strategy); });
}

// A call that asks a server, or the daemon of a mount, where no profile tells more.
constexpr double kNetworkCallNs = 50'000;

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

Result<Strategy> parse_file_hints(std::string_view hints) {
  Strategy strategy;
  TW_RETURN_IF_ERROR(set_hints(hints, strategy));
  return strategy;
}

StripeLayout stripes_to_be(const StorageInfo& folder, StripeRequest asked) {
  StripeLayout stripes = folder.stripes;
  if (!takes_stripes(folder.kind)) return stripes;
  if (asked.bytes > 0) stripes.bytes = asked.bytes;
  if (asked.count > 0) stripes.count = asked.count == kAllTargets ? 0 : asked.count;
  return stripes;
}

Result<Strategy> choose_strategy(const StorageInfo& storage, std::string_view hints) {
  Strategy strategy;
  strategy.direct_costs = default_direct_costs();
  // On tmpfs a writer allocates pages from any source: staging would only add a copy.
  if (storage.kind == "tmpfs") strategy.costs.staged_write_byte_ns = strategy.costs.write_byte_ns;
  if (storage.is_network) strategy.costs.call_ns = kNetworkCallNs;
  if (storage.stripes.count > 1) strategy.costs.parallel_writes = storage.stripes.count;  // each serves a writer
  if (const StorageProfile* profile = find_profile(storage.identity); profile != nullptr) strategy = profile->strategy;
  if (storage.stripes.bytes % kPage == 0) strategy.stripe_bytes = storage.stripes.bytes;
  strategy.stripe_count = storage.stripes.count;
  strategy.cores_of_node = cores_of_node();
  strategy.on_one_node = !storage.is_network;
  strategy.costs.block = strategy.direct_costs.block = storage.block_bytes;
  TW_RETURN_IF_ERROR(set_hints(hints, strategy));
  return strategy;
}

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
