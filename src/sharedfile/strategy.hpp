// Strategy of a shared file: defaults, replaced by the tuned profile of the file system, replaced by the hints of the
// caller.
#pragma once

#include <optional>
#include <string_view>

#include "engine/shared_file.hpp"

namespace thalweg {

struct FileHints {
  enum class Io { automatic, buffered, direct } io = Io::automatic;
  std::optional<Method> method;
  std::size_t workers = 0;
  std::size_t aggregators = 0;
  std::optional<std::uint64_t> aggregator_bytes;
  std::optional<bool> node_relay;
  std::optional<unsigned> queue_depth;
  std::optional<std::uint64_t> transfer_bytes;
  std::optional<std::uint64_t> staging_bytes;
  std::optional<bool> sieve_writes;
};

// Parses "name=value,name=value". Fails with unknown_hint.
Result<FileHints> parse_file_hints(std::string_view text);

Strategy choose_strategy(const StorageInfo& storage, const FileHints& hints);

}  // namespace thalweg
