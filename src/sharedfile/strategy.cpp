#include "sharedfile/strategy.hpp"

#include "base/hint_table.hpp"
#include "os/node_id.hpp"
#include "sharedfile/profile.hpp"

namespace thalweg {

namespace {

Status set_hint(FileHints& hints, std::string_view name, std::string_view value) {
  TW_ASSIGN_OR_RETURN(const HintSpec* spec, find_hint(name, HintScope::file));
  TW_ASSIGN_OR_RETURN(const std::uint64_t number, parse_hint(*spec, value));
  const bool word = number >= kHintWord;  // the word "auto"
  if (name == "io") {
    hints.io = static_cast<FileHints::Io>(number);
  } else if (name == "method") {
    constexpr Method kMethods[] = {Method::direct, Method::shared, Method::naive, Method::aggregate};
    hints.method.reset();
    if (number > 0) hints.method = kMethods[number - 1];
  } else if (name == "workers") {
    hints.workers = word ? 0 : static_cast<std::size_t>(number);
  } else if (name == "aggregators") {
    hints.aggregators = word ? 0 : static_cast<std::size_t>(number);
  } else if (name == "aggregator_bytes") {
    hints.aggregator_bytes = number;
  } else if (name == "node_relay") {
    hints.node_relay.reset();
    if (number > 0) hints.node_relay = number == 2;
  } else if (name == "queue_depth") {
    hints.queue_depth = static_cast<unsigned>(number);
  } else if (name == "transfer_bytes") {
    hints.transfer_bytes = number;
  } else if (name == "staging_bytes") {
    hints.staging_bytes = number;
  } else if (name == "sieve_writes") {
    hints.sieve_writes = number != 0;
  } else {
    return Status::error(Code::internal, "hint '" + std::string(name) + "' is in the table but not in use");
  }
  return {};
}

}  // namespace

Result<FileHints> parse_file_hints(std::string_view text) {
  FileHints hints;
  TW_RETURN_IF_ERROR(
      for_each_hint(text, [&](std::string_view name, std::string_view value) { return set_hint(hints, name, value); }));
  return hints;
}

Strategy choose_strategy(const StorageInfo& storage, const FileHints& hints) {
  Strategy strategy;
  strategy.direct_costs = default_direct_costs();
  strategy.cores_of_node = cores_of_node();
  // On tmpfs a writer allocates pages from any source: staging would only add a copy.
  if (storage.kind == "tmpfs") strategy.costs.staged_write_byte_ns = strategy.costs.write_byte_ns;
  apply_profile(storage.identity, strategy);
  strategy.costs.block = strategy.direct_costs.block = storage.block_bytes;
  if (hints.io != FileHints::Io::automatic) {
    strategy.direct_reads = strategy.direct_writes = hints.io == FileHints::Io::direct;
    strategy.direct_where_cheaper = false;
  }
  strategy.method = hints.method;
  strategy.workers = hints.workers;
  strategy.aggregators = hints.aggregators;
  strategy.aggregator_bytes = hints.aggregator_bytes.value_or(strategy.aggregator_bytes);
  strategy.node_relay = hints.node_relay;
  strategy.queue_depth = hints.queue_depth.value_or(strategy.queue_depth);
  strategy.transfer_bytes = hints.transfer_bytes.value_or(strategy.transfer_bytes);
  strategy.staging_bytes = hints.staging_bytes.value_or(strategy.staging_bytes);
  strategy.sieve_writes = hints.sieve_writes.value_or(strategy.sieve_writes);
  return strategy;
}

}  // namespace thalweg
