#include "base/hint_table.hpp"

#include <charconv>

#include "base/size_units.hpp"

namespace thalweg {

namespace {

constexpr HintSpec kTable[] = {
    {"chunk_bytes", HintType::bytes, "auto", "auto|1 .. 1TiB",
     "first chunk of a logical file, in bytes; set it to what a task writes in total, if known", 1, kTi},
    {"physical_files", HintType::count, "auto", "auto|node|1 .. 65536",
     "number of physical files; auto: at most 4 per node, 1 per node on a network file system; node: one per node; 1 "
     "where a single file must be handed around",
     1, 65536},
    {"alignment_bytes", HintType::bytes, "auto", "auto|512 .. 64MiB, a power of two",
     "alignment of chunk data, in bytes; auto: block of the file system; raise it to the stripe of a parallel file "
     "system",
     512, 64 * kMi},
    {"buffer_bytes", HintType::bytes, "256KiB", "0 .. 1GiB",
     "write buffer of a logical file and read-ahead, in bytes; 0: none; raise it for many streams of small records", 0,
     kKi* kMi},
    {"granule_bytes", HintType::bytes, "64KiB", "4KiB .. 64MiB, a power of two",
     "bytes per checksum, the smallest verified read; lower it for random reads of few bytes", 4 * kKi, 64 * kMi},
    {"checksum", HintType::choice, "crc32c", "none|crc32c",
     "checksum of the data; none where another layer already protects the bytes"},
    {"compression", HintType::choice, "none", "none|lz4|zstd",
     "compression of the data; lz4 for slow storage, zstd to save space"},
    {"verify", HintType::boolean, "on", "off|on",
     "verify checksums when reading; off to measure, or to read a damaged file"},
    {"sync_on_close", HintType::boolean, "off", "off|on",
     "close waits until all data is on storage; on where checkpoints must survive a power failure"},
    {"duplicates", HintType::choice, "keep", "keep|error",
     "two logical files of one name; error: the close fails with TW_ERR_EXISTS, the file is closed and has both"},

    {"tier", HintType::text, "none", "none|a folder",
     "folder that each node has for itself, such as /dev/shm: a new multifile is written there and drained to its "
     "name; "
     "a read first drains the newest whole one; set it where the shared file system is slow"},
    {"partner", HintType::boolean, "off", "off|on",
     "with tier: the close copies the bytes of each node to the next node; on where a node may be lost"},
    {"drain", HintType::choice, "async", "async|wait|leave",
     "with tier: async: a thread drains behind the close, wait: the close waits, leave: `thalweg drain` is called"},

    {"io", HintType::choice, "auto", "auto|buffered|direct",
     "buffered: through the page cache, direct: O_DIRECT; auto: as measured by `thalweg tune`, else buffered; set "
     "direct for files larger than memory",
     0, 0, HintScope::file_or_multifile},
    {"method", HintType::choice, "auto", "auto|direct|shared|naive|aggregate",
     "plan of collective accesses; auto: the cheapest by the cost model; direct: each task its own data, shared: split "
     "over the threads, naive: one task, aggregate: two-phase; force one to compare",
     0, 0, HintScope::file},
    {"workers", HintType::count, "auto", "auto|1 .. 65536",
     "transferring tasks of method shared; auto: 1 for buffered writes, else all; lower it for storage that serves one "
     "stream best",
     1, 65536, HintScope::file},
    {"aggregators", HintType::count, "auto", "auto|1 .. 1024",
     "aggregators of the whole group; auto: by cost, at most 4 per node; raise it for storage that serves many streams "
     "at once",
     1, 1024, HintScope::file},
    {"aggregator_bytes", HintType::bytes, "16MiB", "64KiB .. 1GiB",
     "staging memory of one aggregator, in bytes; raise it for fewer rounds and longer transfers", 64 * kKi, kKi* kMi,
     HintScope::file},
    {"node_relay", HintType::choice, "auto", "auto|off|on",
     "join the small messages of a node to an aggregator on another node; auto: where cheaper; off on fast networks", 0,
     0, HintScope::file},
    {"queue_depth", HintType::count, "4", "1 .. 1024",
     "outstanding direct transfers per task, each with a buffer in a multifile; raise it for NVMe devices", 1, 1024,
     HintScope::file_or_multifile},
    {"transfer_bytes", HintType::bytes, "4MiB", "64KiB .. 1GiB",
     "size of a direct transfer, in bytes; raise it where each transfer is expensive, as over a network", 64 * kKi,
     kKi* kMi, HintScope::file_or_multifile},
    {"striping_factor", HintType::count, "auto", "auto|all|1 .. 2000",
     "targets (OSTs) of a new file on Lustre and BeeGFS; auto: as its folder has it; raise it for one large file", 1,
     2000, HintScope::file_or_multifile},
    {"striping_unit", HintType::bytes, "auto", "auto|64KiB .. 1GiB",
     "bytes of a stripe of a new file on Lustre and BeeGFS; set it to what a task writes at a time", 64 * kKi, kGi,
     HintScope::file_or_multifile},
    {"staging_bytes", HintType::bytes, "1MiB", "4KiB .. 1GiB",
     "staging memory of a task for small pieces and sieving, in bytes; raise it to sieve wider holes", 4 * kKi,
     kKi* kMi, HintScope::file},
    {"sieve_writes", HintType::boolean, "off", "off|on",
     "read and rewrite small holes; on for many small pieces, only while no other handle writes the file", 0, 0,
     HintScope::file},

    {"record_bytes", HintType::bytes, "auto", "auto|1 .. 1TiB",
     "record of an array without NAME.meta, in bytes per virtual processor; auto: the first access; set it when the "
     "first access differs",
     1, kTi, HintScope::vpfile},
    {"round_bytes", HintType::bytes, "auto", "auto|1 .. 1GiB",
     "buffer of each virtual processor for collective writes in mode CB, in bytes; auto: the first such write; raise "
     "it for fewer, larger writes",
     1, kGi, HintScope::vpfile},
    {"block_bytes", HintType::bytes, "64", "16 .. 1MiB, a power of two",
     "allocation unit, in bytes, of a stream that grows independently; set it to what a stream writes at a time", 16,
     kMi, HintScope::vpfile},
    {"superblock_bytes", HintType::bytes, "auto", "auto|4KiB .. 16MiB, a power of two, at least 8 blocks",
     "unit in which a task writes blocks, in bytes; auto: 256KiB or 64 blocks; raise it for fewer, larger writes",
     4 * kKi, 16 * kMi, HintScope::vpfile},
    {"directory_pointers", HintType::count, "6", "1 .. 64",
     "runs of blocks per directory entry; 1 or 2 for streams written at once, more for streams that grow in many steps",
     1, 64, HintScope::vpfile},
    {"cache_bytes", HintType::bytes, "16MiB", "0 .. 1TiB",
     "superblock cache of a task, in bytes, plus half of it for the directory; raise it for streams that grow by less "
     "than a block at a time",
     0, kTi, HintScope::vpfile},
    {"assume_nb", HintType::boolean, "off", "off|on",
     "skip the agreement before each access; every access must qualify for mode NB", 0, 0, HintScope::vpfile},
    {"overwrite_foreign", HintType::boolean, "off", "off|on",
     "permit an open for writing to overwrite a file of another known format; on only for files that are no longer "
     "needed",
     0, 0, HintScope::multifile_or_vpfile},
};

Status bad_value(const HintSpec& spec, std::string_view text) {
  return Status::error(Code::unknown_hint, "value '{}' of hint '{}' is none of: {}", text, spec.name, spec.values);
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
      return Status::error(Code::unknown_hint, "hint '{}' has no value; write NAME=VALUE", entry);
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
  if (spec.type == HintType::text) return text.empty() ? Result<std::uint64_t>(bad_value(spec, text)) : 0;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return bad_value(spec, text);
  std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  const std::uint64_t factor = spec.type == HintType::bytes ? unit_factor(unit) : (unit.empty() ? 1 : 0);
  if (factor == 0 || __builtin_mul_overflow(number, factor, &number)) return bad_value(spec, text);
  if (number < spec.min || number > spec.max)
    return Status::error(Code::invalid_argument, "value '{}' of hint '{}' is outside {}", text, spec.name, spec.values);
  return number;
}

}  // namespace thalweg
