// thalweg info: type of a multifile or vpfile (info_vpfile.cpp), sizes of its logical files, use of its space, and its
// state.
#include <fmt/format.h>

#include <array>

#include "command.hpp"
#include "common.hpp"
#include "info_vpfile.hpp"
#include "new_multifile.hpp"
#include "progress.hpp"
#include "stream_sizes.hpp"
#include "text.hpp"
#include "vpfile.hpp"

namespace tool {
namespace {

struct Options {
  std::string file;
  bool tasks = false;
};

struct Loss {
  tw_status status = TW_OK;  // first failure of reading
  std::string message;

  void note(tw_status why, const std::string& text) {
    if (status != TW_OK) return;
    status = why;
    message = text;
  }
};

struct Sizes : StreamSizes {
  int64_t named = 0, unreadable = 0;
  Loss loss;
};

struct Space {  // bytes of the physical files by content; indexed by TW_REGION_*
  std::array<int64_t, TW_REGION_INDEX + 1> bytes = {};
  int64_t total = 0;
};

constexpr const char* kRegionNames[] = {"", "headers", "frames", "data", "tails", "holes", "index"};

// Adds the size of each logical file, or of a range together, to `list`, unless null; null for unreadable ones.
void list_sizes(Json* list, int64_t ranks, const Json& bytes, bool together = false) {
  if (list == nullptr) return;
  if (together) {
    list->push_back({{"tasks", ranks}, {"bytes", bytes}});
  } else {
    for (int64_t i = 0; i < ranks; ++i) list->push_back(bytes);
  }
}

void measure_one(const Multifile& multifile, int64_t rank, Sizes& sizes, Json* list) {
  try {
    const int64_t bytes = multifile.bytes(rank);
    size_t length = 0;
    check(tw_multifile_name(multifile.get(), rank, nullptr, 0, &length, nullptr));
    sizes.add(bytes);
    sizes.named += length > 0 ? 1 : 0;
    list_sizes(list, 1, bytes);
  } catch (const Failure& failure) {
    if (!is_loss(failure.status)) throw;
    sizes.loss.note(failure.status, failure.what());
    ++sizes.unreadable;
    list_sizes(list, 1, nullptr);
  }
}

Sizes measure(const Multifile& multifile, int64_t n, Json* list) {
  Sizes sizes;
  OneByOne one_by_one;
  for (int64_t rank = 0, i = 0; rank < n; ++i) {
    note_work("info", rank, n, "logical files");
    if (i % 256 == 0) stop_if_interrupted();
    const Alike alike = multifile.alike(rank);
    const int64_t ranks = alike.last - rank + 1;
    if (alike.lost()) {
      sizes.loss.note(alike.status, alike.message);
      sizes.unreadable += ranks;
      list_sizes(list, ranks, nullptr, !one_by_one.takes(ranks));
    } else if (ranks > 1) {
      sizes.add(0, ranks);
      list_sizes(list, ranks, 0, !one_by_one.takes(ranks));
    } else {
      measure_one(multifile, rank, sizes, list);
    }
    rank = alike.last + 1;
  }
  return sizes;
}

int add_region(const tw_region* region, void* user) {
  auto& space = *static_cast<Space*>(user);
  if (region->kind >= TW_REGION_HEADER && region->kind <= TW_REGION_INDEX) {
    int64_t& bytes = space.bytes[static_cast<size_t>(region->kind)];
    bytes = sum_of(bytes, region->bytes);
  }
  space.total = sum_of(space.total, region->bytes);
  return caught_signal();
}

Json hex(std::string_view text) {
  std::string digits;
  for (const char byte : text) digits += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return {{"hex", digits}};
}

// `others`: attributes whose key is no UTF-8 and cannot be a JSON key.
Json attributes(const Multifile& multifile, Json& others) {
  Json all = Json::object();
  others = Json::array();
  for (int64_t i = 0;; ++i) {
    const char* key = nullptr;
    const tw_status status = tw_multifile_attribute_key(multifile.get(), i, &key);
    if (status == TW_ERR_NOT_FOUND) return all;
    check(status);
    const void* value = nullptr;
    size_t bytes = 0;
    check(tw_multifile_attribute(multifile.get(), key, &value, &bytes));
    const std::string_view text(static_cast<const char*>(value), bytes);
    const Json shown = is_utf8(text) ? Json(text) : hex(text);
    if (is_utf8(key)) {
      all[key] = shown;
    } else {
      others.push_back({{"key", hex(key)}, {"value", shown}});
    }
  }
}

const char* checksum_name(int32_t checksum) { return checksum == TW_CHECKSUM_CRC32C ? "crc32c" : "none"; }

// All facts in output order; the text is made from them, too.
Json describe(const Options& options) {
  const auto [multifile, closed] = open_in_any_state(options.file);
  const tw_multifile_summary summary = multifile.summarize();
  Json list = Json::array();
  const Sizes sizes = measure(multifile, summary.n_logical, options.tasks ? &list : nullptr);
  Space space;
  const tw_status walked = tw_multifile_regions(multifile.get(), add_region, &space);
  stop_if_interrupted();
  if (walked != TW_OK && !is_loss(walked)) fail_with_status(walked);
  Loss loss = sizes.loss;
  if (walked != TW_OK) loss.note(walked, tw_last_error());
  const bool whole = loss.status == TW_OK;
  Json info = json_head("info", options.file);
  info["kind"] = "multifile";
  info["health"] = !whole ? "damaged" : closed ? "closed" : "not closed";
  if (!whole) info["error"] = {{"status", tw_status_name(loss.status)}, {"message", loss.message}};
  info["closed"] = closed;
  info["format"] = fmt::format("{}.{}", summary.version_major, summary.version_minor);
  info["uuid"] = summary.uuid;
  info["logical_files"] = summary.n_logical;
  info["physical_files"] = summary.n_physical;
  info["planned_files"] = summary.n_planned;
  info["sessions"] = summary.sessions;
  info["checksum"] = checksum_name(summary.checksum);
  info["alignment_bytes"] = summary.alignment_bytes;
  info["granule_bytes"] = summary.granule_bytes;
  info["sizes"] = {{"total", sizes.total},         {"min", sizes.min},     {"max", sizes.max},
                   {"empty", sizes.empty},         {"named", sizes.named}, {"unreadable", sizes.unreadable},
                   {"histogram", histogram(sizes)}};
  const StoredBytes stored = bytes_of_physical_files(options.file, multifile);
  Json& where = info["space"] = {{"total", space.total}, {"on_disk", stored.on_disk}};
  for (size_t kind = TW_REGION_HEADER; kind <= TW_REGION_INDEX; ++kind) where[kRegionNames[kind]] = space.bytes[kind];
  const std::string strategy = multifile.stored_strategy();
  info["strategy"] = strategy.empty() ? Json() : Json(strategy);
  Json others;
  info["attributes"] = attributes(multifile, others);
  info["other_attributes"] = others;
  if (options.tasks) info["task_bytes"] = list;
  info["exit_code"] = static_cast<int>(whole && closed ? kFine : kDamaged);
  return info;
}

void print_sizes(const Json& info) {
  const Json& sizes = info["sizes"];
  const int64_t n = info["logical_files"];
  put(fmt::format("logical bytes   {}\n", size_text(sizes["total"])));
  if (n == 0) return;
  const int64_t mean = sizes["total"].get<int64_t>() / n;
  put(fmt::format("per task        min {}, mean {}, max {}; {} empty, {} named\n", short_size(sizes["min"]),
                  short_size(mean), short_size(sizes["max"]), sizes["empty"].get<int64_t>(),
                  sizes["named"].get<int64_t>()));
  if (sizes["unreadable"] > 0) put(fmt::format("unreadable      {}\n", sizes["unreadable"].get<int64_t>()));
  print_histogram(sizes["histogram"]);
}

void print_space(const Json& info) {
  const Json& space = info["space"];
  const int64_t total = space["total"];
  put(fmt::format("bytes on disk   {}\n", size_text(space["on_disk"])));
  put(fmt::format("apparent size   {}\n", size_text(total)));
  for (size_t kind = TW_REGION_HEADER; kind <= TW_REGION_INDEX; ++kind) {
    const int64_t bytes = space[kRegionNames[kind]];
    const double share = total > 0 ? 100.0 * static_cast<double>(bytes) / static_cast<double>(total) : 0.0;
    put(fmt::format("  {:<8} {:>12}  {:5.1f} %\n", kRegionNames[kind], short_size(bytes), share));
  }
}

void print_text(const Json& info) {
  const auto text = [&](const char* key) { return info[key].get<std::string>(); };
  put(fmt::format("file            {}\n", printable(text("file"))));
  put(fmt::format("health          {}\n", text("health")));
  put(fmt::format("format          {}, {} written, uuid {}\n", text("format"), count_text(info["sessions"], "session"),
                  text("uuid")));
  put(fmt::format("logical files   {}\n", info["logical_files"].get<int64_t>()));
  const int64_t n_physical = info["physical_files"], n_planned = info["planned_files"];
  put(fmt::format("physical files  {}{}\n", n_physical,
                  n_physical < n_planned ? fmt::format(" of up to {}", n_planned) : ""));
  put(fmt::format("checksum        {}, one for each {}\n", text("checksum"), short_size(info["granule_bytes"])));
  put(fmt::format("alignment       {}\n", short_size(info["alignment_bytes"])));
  print_sizes(info);
  print_space(info);
  if (info["strategy"].is_string()) put(fmt::format("strategy        {}\n", printable(text("strategy"))));
  const auto shown = [](const Json& word) {
    return printable(word.is_string() ? word.get<std::string>() : "hex " + word["hex"].get<std::string>());
  };
  for (const auto& [key, value] : info["attributes"].items()) {
    if (key != kStrategyKey) put(fmt::format("attribute       {} = {}\n", printable(key), shown(value)));
  }
  for (const Json& other : info["other_attributes"]) {
    put(fmt::format("attribute       {} = {}\n", shown(other["key"]), shown(other["value"])));
  }
  if (!info.contains("task_bytes")) return;
  print_each("task", 10, info["task_bytes"]);
}

int run(const Options& options, const Common& common) {
  const bool vpfile = is_vpfile(options.file);
  const Json info = vpfile ? describe_vpfile(options.file, options.tasks) : describe(options);
  if (common.json) {
    put_json(info);
  } else {
    vpfile ? print_vpfile(info) : print_text(info);
  }
  flush_output();
  if (!info["closed"].get<bool>()) report_not_closed(options.file);
  if (info.contains("error")) say(info["error"]["message"].get<std::string>());
  return info["exit_code"].get<int>();
}

Run add(CLI::App& app) {
  auto options = std::make_shared<Options>();
  plain_word(app.add_option("FILE", options->file, "The multifile or vpfile")->required());
  app.add_flag("--tasks", options->tasks, "Print the size of each logical file, or of each stream");
  return [options](const Common& common) { return run(*options, common); };
}

}  // namespace

const Command kInfo = {
    "info",
    "Summary: sizes, holes, health, attributes",
    "Reads metadata only: 'thalweg verify' reads all bytes. For an unclosed or damaged file the intact part is "
    "described, and the command exits with 1.\n"
    "\nSpace: data are bytes of logical files as stored; frames describe chunks; tails are reserved in a chunk but "
    "unused; holes have no owner (and take no space on a file system with sparse files).\n"
    "\nFor a vpfile: its shape, its segments (NB: records of all virtual processors; CB: rounds of collective buffers; "
    "IB: blocks of single ones), and the sizes of its streams. For an unclosed one, the sizes of its segments are "
    "those of the last flush.",
    "  command, file, format, uuid, checksum, alignment_bytes, granule_bytes, exit_code\n"
    "  kind: \"multifile\" or \"vpfile\"\n"
    "  health: \"closed\", \"not closed\" or \"damaged\"; closed: true or false\n"
    "  logical_files, physical_files, planned_files, sessions: numbers; physical_files exist; planned_files may exist, "
    "as some are made when they are needed; sessions: 1, plus one per append\n"
    "  sizes: total, min, max: bytes; empty, named, unreadable: numbers of logical files; histogram: from_bytes, "
    "below_bytes (null: no end), files\n"
    "  space: on_disk: bytes that the physical files occupy, 0 for one that is missing; total: their apparent size, "
    "the sum of headers, frames, data, tails, holes and index\n"
    "  strategy: how it was written, as text; null when not recorded\n"
    "  attributes: key and value; a value that is no UTF-8 as {\"hex\": ...}\n"
    "  other_attributes: with a key that is no UTF-8: key as {\"hex\": ...}, value\n"
    "  task_bytes: with --tasks, bytes of each logical file by rank, null for an unreadable one; beyond 1000 in total, "
    "a range without stored data or unreadable is one object: tasks (their number), bytes\n"
    "  error: the first read error: status, message\n"
    "Keys for a vpfile: command, file, kind, health, closed, format, sessions, exit_code, and\n"
    "  shape: list of numbers; vps: number of virtual processors; mode: \"NB\", \"CB\" or \"IB\"\n"
    "  segments: nb (record_bytes, bytes_per_vp, bytes), cb (round_bytes, bytes_per_vp, bytes), ib (block_bytes, "
    "superblock_bytes, bytes); null: missing\n"
    "  sizes: of the streams, as above; null for an unclosed file\n"
    "  files: name and bytes of each of its files\n"
    "  vp_bytes: with --tasks, bytes of each stream; beyond 1000 in total, a range without own data is one object: vps "
    "(their number), bytes\n",
    "  thalweg info dump.tw\n"
    "  thalweg info --json dump.tw | jq .sizes.total\n",
    add};

}  // namespace tool
