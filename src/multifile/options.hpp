// How a multifile is opened: the parsed hints, and which logical files a task serves.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "multifile/format/frame.hpp"

namespace thalweg {

inline constexpr std::uint64_t kAuto = 0;
inline constexpr std::uint32_t kOnePerNode = ~0u;

struct MultifileOptions {
  std::uint64_t chunk_bytes = kAuto;
  std::uint32_t physical_files = kAuto;  // or kOnePerNode
  std::uint64_t first_bytes = 4 << 20;   // no hint: data of a node before it uses a later physical file (kAuto files)
  std::uint32_t alignment_bytes = kAuto;
  std::uint64_t buffer_bytes = 256 * 1024;
  std::uint64_t added_bytes = 512 * 1024;  // of what the close needs of added logical files, in memory of a task
  std::uint32_t granule_bytes = 64 * 1024;
  format::Checksum checksum = format::Checksum::crc32c;
  format::Codec codec = format::Codec::none;
  bool verify = true;
  bool sync_on_close = false;
  std::string storage_hints;  // those that a shared file has too: "io=direct,queue_depth=8"
  bool refuses_duplicates = false;
  bool defragments = false;        // no hint: one chunk for each logical file, as large as its bytes (defrag.cpp)
  bool overwrite_foreign = false;  // a file of another format
  std::string tier;                // a folder that each node has for itself; empty: none
  bool partner = false;
  enum class Drain { async, wait, leave } drain = Drain::async;
  // No hints: identity (zeros: a random one) and time of a multifile that each node writes in its tier.
  std::array<std::uint8_t, 16> uuid{};
  std::uint64_t created_seconds = 0;
  bool in_tier() const { return uuid != std::array<std::uint8_t, 16>{}; }
};

// Sets one hint by name and text; see base/hint_table.hpp.
Status set_option(MultifileOptions& options, std::string_view name, std::string_view value);

// The logical files that a task serves: an even share by default, else a range or a list.
struct Serving {
  enum class Kind { automatic, range, list } kind = Kind::automatic;
  std::int64_t n_logical = -1;  // of the whole multifile; -1: from the file, or one per task
  std::int64_t first = 0, count = 0;
  std::vector<std::int64_t> list;
};

using MappingFunction = std::function<std::int32_t(std::int64_t rank, std::int64_t n_logical, std::int32_t n_physical)>;

// Called during long calls; false makes them fail with Code::stopped.
using ProgressFunction = std::function<bool(std::uint64_t done, std::uint64_t total)>;

}  // namespace thalweg
