#include "base/hint_table.hpp"

#include <charconv>

#include "base/size_units.hpp"

namespace thalweg {

namespace {

constexpr HintSpec kTable[] = {
    {"chunk_bytes", HintType::bytes, "auto", "auto|1 .. 1TiB",
     "bytes that a task expects to write at a time; further chunks follow by themselves", 1, kTi},
    {"physical_files", HintType::count, "auto", "auto|node|1 .. 65536",
     "physical files; auto: as many as tasks write at once, node: one per node", 1, 65536},
    {"alignment_bytes", HintType::bytes, "auto", "auto|512 .. 64MiB, a power of two",
     "data of a chunk starts on a multiple of this; auto: block of the file system", 512, 64 * kMi},
    {"buffer_bytes", HintType::bytes, "256KiB", "0 .. 1GiB", "buffer of a task for small records; 0 turns it off", 0,
     kKi* kMi},
    {"granule_bytes", HintType::bytes, "64KiB", "4KiB .. 64MiB, a power of two",
     "bytes under one checksum, the least that is read to verify", 4 * kKi, 64 * kMi},
    {"checksum", HintType::choice, "crc32c", "none|crc32c", "checksum of the data"},
    {"compression", HintType::choice, "none", "none|lz4|zstd", "compression of the data"},
    {"verify", HintType::boolean, "on", "off|on", "verify checksums when reading"},
    {"sync_on_close", HintType::boolean, "off", "off|on", "close waits until all is on storage"},

    {"io", HintType::choice, "auto", "auto|buffered|direct",
     "through the page cache or past it; auto: as `thalweg tune` found best, else buffered", 0, 0, HintScope::file},
    {"method", HintType::choice, "auto", "auto|direct|shared|naive|aggregate",
     "who transfers; auto: by cost. direct: each task its own, shared: the whole split over the "
     "threads, naive: one task all, aggregate: two-phase",
     0, 0, HintScope::file},
    {"workers", HintType::count, "auto", "auto|1 .. 65536", "tasks that transfer when shared", 1, 65536,
     HintScope::file},
    {"aggregators", HintType::count, "auto", "auto|1 .. 1024", "tasks that transfer for all when aggregating", 1, 1024,
     HintScope::file},
    {"aggregator_bytes", HintType::bytes, "16MiB", "64KiB .. 1GiB", "staging memory of one aggregator", 64 * kKi,
     kKi* kMi, HintScope::file},
    {"node_relay", HintType::choice, "auto", "auto|off|on",
     "small messages of a node for an aggregator on another one go as one; auto: where that is cheaper", 0, 0,
     HintScope::file},
    {"queue_depth", HintType::count, "4", "1 .. 1024", "direct transfers in flight per task", 1, 1024, HintScope::file},
    {"transfer_bytes", HintType::bytes, "4MiB", "64KiB .. 1GiB", "bytes of one direct transfer", 64 * kKi, kKi* kMi,
     HintScope::file},
    {"staging_bytes", HintType::bytes, "1MiB", "4KiB .. 1GiB", "memory in which a task gathers small pieces, or sieves",
     4 * kKi, kKi* kMi, HintScope::file},
    {"sieve_writes", HintType::boolean, "off", "off|on",
     "small holes may be read and written back; only where nobody else has the file open", 0, 0, HintScope::file},

    {"record_bytes", HintType::bytes, "auto", "auto|1 .. 1TiB",
     "record of an array that has no NAME.meta; auto: what the first access moves", 1, kTi, HintScope::vpfile},
    {"round_bytes", HintType::bytes, "auto", "auto|1 .. 1GiB",
     "buffer of each virtual processor where all move alike, but not as NB needs it; auto: as the first such write", 1,
     kGi, HintScope::vpfile},
    {"block_bytes", HintType::bytes, "64", "16 .. 1MiB, a power of two",
     "in which a stream grows where each goes its own way", 16, kMi, HintScope::vpfile},
    {"superblock_bytes", HintType::bytes, "auto", "auto|4KiB .. 16MiB, a power of two, at least 8 blocks",
     "what a task writes blocks in; auto: 256KiB, or 64 blocks", 4 * kKi, 16 * kMi, HintScope::vpfile},
    {"directory_pointers", HintType::count, "6", "1 .. 64", "runs of blocks that an entry of the directory names", 1,
     64, HintScope::vpfile},
    {"cache_bytes", HintType::bytes, "16MiB", "0 .. 1TiB",
     "superblocks that a task keeps in memory; half as much of the directory", 0, kTi, HintScope::vpfile},
    {"assume_nb", HintType::boolean, "off", "off|on", "a promise: every access is as NB needs it, so that nobody asks",
     0, 0, HintScope::vpfile},
    {"overwrite_foreign", HintType::boolean, "off", "off|on",
     "opening for writing may overwrite a file of another known format; on for files that are not needed any more", 0,
     0, HintScope::multifile_or_vpfile},
};

Status bad_value(const HintSpec& spec, std::string_view text) {
  return Status::error(Code::unknown_hint,
                       "value '" + std::string(text) + "' of hint '" + spec.name + "' is none of: " + spec.values);
}

// Position of `text` among the '|'-separated words, or -1.
int word_position(std::string_view words, std::string_view text) {
  for (int position = 0;; ++position) {
    const std::size_t bar = words.find('|');
    if (words.substr(0, bar) == text) return position;
    if (bar == std::string_view::npos) return -1;
    words.remove_prefix(bar + 1);
  }
}

// Factor of a unit suffix such as "MiB"; 0 when unknown.
std::uint64_t unit_factor(std::string_view unit) {
  constexpr std::string_view kLetters = "KMGT";
  if (unit.empty() || unit == "B") return 1;
  const std::size_t power = kLetters.find(unit[0]);
  if (power == std::string_view::npos) return 0;
  const std::string_view rest = unit.substr(1);
  if (!rest.empty() && rest != "iB" && rest != "B" && rest != "i") return 0;
  const bool decimal = rest == "B";
  std::uint64_t factor = 1;
  for (std::size_t i = 0; i <= power; ++i) factor *= decimal ? 1000 : 1024;
  return factor;
}

}  // namespace

std::span<const HintSpec> hint_table() { return kTable; }

Status for_each_hint(std::string_view text,
                     const std::function<Status(std::string_view name, std::string_view value)>& set) {
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view entry = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
    if (entry.empty()) continue;
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos)
      return Status::error(Code::unknown_hint, "hint '" + std::string(entry) + "' has no value; write NAME=VALUE");
    TW_RETURN_IF_ERROR(set(entry.substr(0, equals), entry.substr(equals + 1)));
  }
  return {};
}

Result<std::uint64_t> parse_hint(const HintSpec& spec, std::string_view text) {
  if (spec.type == HintType::boolean) {
    if (text == "1" || text == "true" || text == "yes") text = "on";
    if (text == "0" || text == "false" || text == "no") text = "off";
  }
  const int word = word_position(spec.values, text);
  if (spec.type == HintType::choice || spec.type == HintType::boolean) {
    if (word < 0) return bad_value(spec, text);
    return static_cast<std::uint64_t>(word);
  }
  if (word >= 0) return kHintWord + static_cast<std::uint64_t>(word);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return bad_value(spec, text);
  std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  const std::uint64_t factor = spec.type == HintType::bytes ? unit_factor(unit) : (unit.empty() ? 1 : 0);
  if (factor == 0 || __builtin_mul_overflow(number, factor, &number)) return bad_value(spec, text);
  if (number < spec.min || number > spec.max)
    return Status::error(Code::invalid_argument,
                         "value '" + std::string(text) + "' of hint '" + spec.name + "' is outside " + spec.values);
  return number;
}

}  // namespace thalweg
